const ACTIVE = ['active', 'aktiv', 'activo', 'activa', 'actif', 'نشط']
const INACTIVE = ['inactive', 'inaktiv', 'inactivo', 'inactiva', 'inactif', 'غير نشط']
const LEFT = ['left', 'ausgetreten', 'de baja', 'parti', 'partie', 'غادر']
const OPEN = ['open', 'offen', 'abierto', 'abierta', 'ouvert', 'ouverte', 'مفتوح']

/**
 * What a cell may say for a value, in lower case: the words of exports, those of the console in its languages (see
 * docs/translating.md), and what spreadsheets write for a truth value.
 */
const CELL_WORDS = {
  memberStatus: {
    active: ACTIVE,
    inactive: [...INACTIVE, ...LEFT],
  },
  listingType: {
    service: ['service', 'offer', 'angebot', 'oferta', 'offre', 'عرض'],
    request: ['request', 'gesuch', 'demanda', 'demande', 'طلب'],
  },
  listingStatus: {
    active: [...ACTIVE, ...OPEN],
    closed: ['closed', 'geschlossen', 'cerrado', 'cerrada', 'fermé', 'fermée', 'مغلق'],
    /** Closed when the member left, and reopens when they return. Only exports say this. */
    closed_with_member: ['closed_with_member'],
  },
  truth: {
    true: ['true', 'wahr', 'verdadero', 'vrai', 'yes', 'ja', 'sí', 'si', 'oui', 'نعم'],
    false: ['false', 'falsch', 'falso', 'faux', 'no', 'nein', 'non', 'لا'],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>

type Words = typeof CELL_WORDS

/** The value that the cell says; undefined for other words. */
export function readWord<Kind extends keyof Words>(kind: Kind, text: string): (keyof Words[Kind] & string) | undefined {
  const word = text.normalize('NFC').toLowerCase()
  const [value] = Object.entries<readonly string[]>(CELL_WORDS[kind]).find(([, words]) => words.includes(word)) ?? []
  return value as (keyof Words[Kind] & string) | undefined
}
