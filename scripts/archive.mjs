// Writes archives that depend on nothing but their files: the same sources give the same bytes on every machine.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

const BLOCK_BYTES = 512
/** 1980-01-01, the first day that a zip can express. */
const ZIP_DATE = 0x0021
const FILE_MODE = 0o644
const PROGRAM_MODE = 0o755

/** @param {{ path: string, content: Buffer, isProgram?: boolean }[]} files */
export function tarGz(files) {
  const parts = inOrder(files).flatMap(({ path, content, isProgram }) => [
    tarHeader(path, content.length, isProgram ? PROGRAM_MODE : FILE_MODE),
    content,
    Buffer.alloc(-content.length & (BLOCK_BYTES - 1)),
  ])
  const archive = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]), { level: 9 })
  // The tenth byte names the operating system (RFC 1952): 255 is "unknown".
  archive[9] = 255
  return archive
}

/** POSIX ustar. */
function tarHeader(path, size, mode) {
  if (Buffer.byteLength(path) > 100) throw new Error(`The path ${path} is too long for this archive.`)
  const header = Buffer.alloc(BLOCK_BYTES)
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(path, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** @param {{ path: string, content: Buffer }[]} files */
export function zip(files) {
  const locals = []
  const entries = []
  let offset = 0
  for (const { path, content } of inOrder(files)) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(content, { level: 9 })
    const fields = zipFields(content, packed, name)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed])
    locals.push(local)
    entries.push(zipEntry(fields, offset, name))
    offset += local.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

/** The fields that stand both before the file and in the directory. */
function zipFields(content, packed, name) {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0) // version needed
  fields.writeUInt16LE(0x0800, 2) // names are UTF-8
  fields.writeUInt16LE(8, 4) // deflate
  fields.writeUInt16LE(ZIP_DATE, 8)
  fields.writeUInt32LE(crc32(content), 10)
  fields.writeUInt32LE(packed.length, 14)
  fields.writeUInt32LE(content.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}

function zipEntry(fields, offset, name) {
  const rest = Buffer.alloc(14)
  // The upper half of the attributes is the file mode on Unix.
  rest.writeUInt32LE(((0o100000 | FILE_MODE) << 16) >>> 0, 6)
  rest.writeUInt32LE(offset, 10)
  // "Made by": version 2.0 on Unix.
  return Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), fields, rest, name])
}

function inOrder(files) {
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}
