import { readFile, stat } from 'node:fs/promises'
import { XMLParser } from 'fast-xml-parser'
import { Refusal } from './connect.ts'

/** About 25,000 transfers. The whole file is parsed in memory, where it takes about thirty times its size. */
export const FILE_BYTES_MAX = 16 * 1024 * 1024
/** A statement has a depth of about 15. */
const DEPTH_MAX = 40

/** Children are always lists, so that one entry is handled like many. */
export type XmlNode = string | { [name: string]: XmlNode[] | string }

const PREDEFINED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const parser = new XMLParser({
  ignoreAttributes: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  removeNSPrefix: true,
  // '007' and '1.10' stay text: as numbers they would lose digits that matter.
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  maxNestedTags: DEPTH_MAX,
  // Only the five XML entities and numeric characters; a file cannot define more.
  entityDecoder: {
    decode: decodeEntities,
    addInputEntities: () => {},
    setExternalEntities: () => {},
    setXmlVersion: () => {},
    reset: () => {},
  },
})

export async function readXmlFile(file: string): Promise<XmlNode> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new Refusal(`${file} cannot be read`, { cause })
  })
  if (size > FILE_BYTES_MAX) throw new Refusal(`${file} is larger than ${FILE_BYTES_MAX} bytes`)
  return parseXml(await readFile(file), file)
}

export function parseXml(bytes: Uint8Array, file: string): XmlNode {
  const text = decodeText(bytes, file)
  // A statement has none, and an attacker could use it to read local files or exhaust memory.
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw new Refusal(`${file} has a document type definition: refused`)
  try {
    return parser.parse(text, true) as XmlNode
  } catch (cause) {
    throw new Refusal(`${file} is not well-formed XML: ${(cause as Error).message}`, { cause })
  }
}

function decodeText(bytes: Uint8Array, file: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const [, encoding = 'utf-8'] = /^<\?xml[^>]*\bencoding=["']([^"']+)["']/i.exec(text) ?? []
    if (/^(utf-?8|us-ascii)$/i.test(encoding) && !text.includes('\0')) return text
  } catch {
    // As below.
  }
  throw new Refusal(`${file} is not UTF-8`)
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return PREDEFINED[name] ?? whole
    const code = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16)
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
  })
}

/** Returns the children at the end of a path such as 'NtryDtls/TxDtls', of all parents along the path. */
export function allAt(node: XmlNode, path: string): XmlNode[] {
  let found = [node]
  for (const name of path.split('/')) found = found.flatMap((one) => childrenOf(one, name))
  return found
}

/** Returns the first text at the end of a path, or undefined if there is none or it is empty. */
export function textAt(node: XmlNode, path: string): string | undefined {
  const [first] = allAt(node, path)
  return first === undefined ? undefined : textOf(first)
}

export function textOf(node: XmlNode): string | undefined {
  const text = typeof node === 'string' ? node : node['#text']
  return typeof text === 'string' ? text.replaceAll(/\s+/g, ' ').trim() || undefined : undefined
}

export function attributeOf(node: XmlNode, name: string): string | undefined {
  const value = typeof node === 'string' ? undefined : node[`@_${name}`]
  return typeof value === 'string' ? value.trim() : undefined
}

function childrenOf(node: XmlNode, name: string): XmlNode[] {
  const children = typeof node === 'string' || !Object.hasOwn(node, name) ? undefined : node[name]
  return Array.isArray(children) ? children : []
}
