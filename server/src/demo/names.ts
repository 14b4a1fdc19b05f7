import type { Random } from './random.ts'

/** A group of residents: its weight, given names and family names. */
interface Origin {
  share: number
  given: string[]
  family: string[]
}

const list = (names: string) => names.split(' ')

const ORIGINS: Origin[] = [
  {
    share: 52,
    given: list(
      'Anna Johanna Katharina Magdalena Theresa Veronika Elfriede Gertraud Hannelore Ingrid Renate Sieglinde Waltraud ' +
        'Birgit Claudia Doris Evelyn Gabriele Heidi Karin Manuela Petra Sabine Ulrike Verena Carina Julia Lena Laura ' +
        'Miriam Nina Sophie Alois Anton Bernhard Dietmar Engelbert Ferdinand Georg Gerald Gottfried Günther Hannes Hubert ' +
        'Josef Karl Klaus Leopold Manfred Norbert Othmar Rainer Reinhold Roland Siegfried Stefan Wolfgang Andreas Bastian ' +
        'Dominik Fabian Florian Gregor Jakob Jonas Lukas Matthias Moritz Paul Philipp Simon Tobias Valentin',
    ),
    family: list(
      'Aigner Angerer Auer Bachler Berghammer Brandtner Brunnmair Dallinger Dorfner Ebenhofer Edlinger Eibl Fellinger ' +
        'Fischlhammer Gassner Geyrhofer Grabner Grünwald Haslinger Hinterleitner Hochreiter Holzinger Kaltenböck Kirchweger ' +
        'Klinglmair Krenn Lackinger Langthaler Lehner Lindorfer Mitterlehner Moosbauer Neuhauser Nussbaumer Oberndorfer ' +
        'Pichlbauer Pointner Rabl Reisinger Riegler Rosenauer Sandgruber Schachner Schatzl Schwaiger Seyrl Stadlbauer ' +
        'Steininger Strasser Traxler Unterberger Voggeneder Wagenhofer Waldhör Weissenböck Wiesinger Zauner Zehetner',
    ),
  },
  {
    share: 7,
    given: list(
      'Ayşe Elif Emine Fatma Gülay Hatice Meryem Nazlı Sevgi Zeynep Ahmet Burak Emre Hasan İbrahim Kemal Mustafa Serkan Yusuf',
    ),
    family: list(
      'Akgün Altıntaş Aydoğan Bozkurt Çakır Çelebi Demirtaş Erdem Günay Karaca Korkmazer Özkan Sarıkaya Tekin Yalçıner Yurdakul',
    ),
  },
  {
    share: 8,
    given: list(
      'Amra Danijela Dragana Ivana Jasmina Lejla Marija Mirela Sanja Vesna Admir Bojan Davor Dino Edin Goran Ivica Nenad Senad Zoran',
    ),
    family: list(
      'Babić Bašić Delić Đurđević Filipović Grgić Hadžić Imamović Jurić Kadić Marjanović Mujkić Novaković Perković Stanišić Tomić Vuković Zukić',
    ),
  },
  {
    share: 5,
    given: list(
      'Agnieszka Beata Dorota Ewa Joanna Małgorzata Zuzanna Bartosz Grzegorz Krzysztof Łukasz Marek Piotr Wojciech',
    ),
    family: list('Bielak Chmiel Dąbek Gajda Jarosz Kaczor Kubiak Majka Okoń Pawlik Sikora Szczepanek Wrona Zawada'),
  },
  {
    share: 6,
    given: list(
      'Andrea Eszter Ildikó Katalin Réka Zsófia Alena Jana Kateřina Lenka Zdeňka András Balázs Gábor László Jiří Milan Ondřej Václav',
    ),
    family: list(
      'Balogh Bartos Doležal Fekete Halász Havlíček Hruška Juhász Kadlec Kocsis Lakatos Mareček Pospíchal Somogyi Szalai Vaněk',
    ),
  },
  {
    share: 5,
    given: list('Adriana Corina Elena Ioana Mihaela Simona Alin Bogdan Cristian Florin Mircea Radu Sorin'),
    family: list('Albu Bratu Ciobanu Dobre Lupașcu Moldoveanu Munteanu Olteanu Păun Rusu Stănescu Ungureanu'),
  },
  {
    share: 5,
    given: list('Beatrice Chiara Donatella Giulia Paola Silvia Alessio Carlo Davide Enzo Fabrizio Matteo'),
    family: list(
      'Bellandi Carboni Dalprato Ferrante Galimberti Lombardini Marangon Pedrazzi Rinaldini Sartorello Trevisani',
    ),
  },
  {
    share: 4,
    given: list('Carmen Inés Lucía Marisol Beatriz Catarina Joana Álvaro Gonzalo Jorge Duarte Nuno Tiago'),
    family: list(
      'Aguirre Bermúdez Cabrera Carvalhal Figueira Lozano Medeiros Navarrete Quintana Saavedra Teixeira Valadares',
    ),
  },
  {
    share: 4,
    given: list('Halyna Iryna Kateryna Nataliia Oksana Yuliia Andrii Bohdan Mykola Oleh Serhii Taras'),
    family: list('Bilyk Danylenko Hnatiuk Kovalchuk Lysenko Marchuk Onyshchenko Petrenko Savchenko Tkachuk Romaniuk'),
  },
  {
    share: 4,
    given: list('Amal Dima Hanan Layla Nour Rania Samira Ahmad Bilal Hadi Karim Nabil Omar Tarek Farid Parisa Shirin'),
    family: list('Al-Khatib Barakat Darwish Farhadi Haddad Jamali Kassab Mansour Nazari Qasemi Sabbagh Tahan Zand'),
  },
]

const MIXED_SHARE = 0.12
const SHARES = ORIGINS.reduce((sum, { share }) => sum + share, 0)

/** Combines a given name and a family name at random. */
export function inventName(random: Random): string {
  const origin = pickOrigin(random)
  // Some people have a family name of another origin.
  const family = random.chance(MIXED_SHARE) ? pickOrigin(random).family : origin.family
  return `${random.pick(origin.given)} ${random.pick(family)}`
}

function pickOrigin(random: Random): Origin {
  let rest = random.below(SHARES)
  return ORIGINS.find(({ share }) => (rest -= share) < 0)!
}

/** Letters that Unicode normalization does not reduce to ASCII as wanted. */
const TRANSLITERATIONS: Record<string, string> = {
  ß: 'ss',
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  ø: 'o',
  æ: 'ae',
}

/** Builds the local part of an email address. */
export function mailboxOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[ßäöüłđıøæ]/g, (letter) => TRANSLITERATIONS[letter]!)
    .normalize('NFD')
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '.')
}
