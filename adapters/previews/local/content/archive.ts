import { innerName } from '../../../../gateway/policy/file-words.js';
import type { PreviewLimits } from '../../../../gateway/ports/previewer.js';
import type { RenderResult } from '../protocol.js';
import { shortened } from './first-lines.js';
import type { Ranges } from './ranges.js';

/** APPNOTE.TXT 4.3.16: the end of the directory, with a comment of at most 65,535 bytes after it. */
const END_BYTES = 22;
const END = 0x06054b50;
const LONGEST_COMMENT = 0xffff;
/** 4.3.15 and 4.3.14: where the directory's end is, and that end, of an archive too large for 32 bits. */
const LOCATOR_BYTES = 20;
const LOCATOR = 0x07064b50;
const END64_BYTES = 56;
const END64 = 0x06064b50;
/** 4.3.12: an entry of the directory, without its name. */
const ENTRY_BYTES = 46;
const ENTRY = 0x02014b50;
/** 4.4.4 */
const IS_ENCRYPTED = 0x0001;
const IS_UTF8 = 0x0800;

/** The directory's beginning: names of usual length for more entries than are shown. */
const DIRECTORY_BYTES = 64 * 1024;

const INVALID: RenderResult = { kind: 'refused', reason: 'invalid' };

interface Directory {
  entries: number;
  start: number;
  length: number;
}

/** The names in a ZIP, from its directory alone: nothing is unpacked, however many entries there are. */
export async function namesOf(file: Ranges, limits: PreviewLimits): Promise<RenderResult> {
  const directory = await directoryOf(file);
  if (directory === undefined) return INVALID;
  const { entries, start, length } = directory;
  // an entry that has no room is not there
  if (start + length > file.size || entries > length / ENTRY_BYTES) return INVALID;
  const bytes = await file.read(start, Math.min(length, DIRECTORY_BYTES));
  const names: string[] = [];
  let [at, isLocked] = [0, false];
  // one more than is shown, to know whether that is all
  while (names.length <= limits.maxLines && at + ENTRY_BYTES <= bytes.length && at < length) {
    if (bytes.readUInt32LE(at) !== ENTRY) return INVALID;
    const flags = bytes.readUInt16LE(at + 8);
    const [name, extra, comment] = [
      bytes.readUInt16LE(at + 28),
      bytes.readUInt16LE(at + 30),
      bytes.readUInt16LE(at + 32),
    ];
    const end = at + ENTRY_BYTES + name;
    if (end > bytes.length) break;
    isLocked ||= (flags & IS_ENCRYPTED) !== 0;
    names.push(nameIn(bytes.subarray(at + ENTRY_BYTES, end), flags));
    at = end + extra + comment;
  }
  const facts = { entries, ...(isLocked && { isLocked: true as const }) };
  if (names.length === 0) return { kind: 'rendered', preview: { facts } };
  return { kind: 'rendered', preview: { facts, text: shortened(names, 'names', names.length === entries, limits) } };
}

async function directoryOf(file: Ranges): Promise<Directory | undefined> {
  const start = Math.max(0, file.size - END_BYTES - LONGEST_COMMENT);
  const tail = await file.read(start, file.size - start);
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END || at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const [entries, length, offset] = [
      tail.readUInt16LE(at + 10),
      tail.readUInt32LE(at + 12),
      tail.readUInt32LE(at + 16),
    ];
    if (entries !== 0xffff && length !== 0xffffffff && offset !== 0xffffffff) return { entries, start: offset, length };
    const locator = at - LOCATOR_BYTES;
    const isLarge = locator >= 0 && tail.readUInt32LE(locator) === LOCATOR;
    return isLarge ? largeDirectory(file, tail.readBigUInt64LE(locator + 8)) : { entries, start: offset, length };
  }
  return undefined;
}

async function largeDirectory(file: Ranges, at: bigint): Promise<Directory | undefined> {
  if (at > BigInt(file.size - END64_BYTES)) return undefined;
  const end = await file.read(Number(at), END64_BYTES);
  if (end.length < END64_BYTES || end.readUInt32LE(0) !== END64) return undefined;
  const [entries, length, start] = [end.readBigUInt64LE(32), end.readBigUInt64LE(40), end.readBigUInt64LE(48)];
  // below 2^53, so that the numbers are exact
  if (start + length > BigInt(file.size) || entries > length) return undefined;
  return { entries: Number(entries), start: Number(start), length: Number(length) };
}

/** A name on one line, as a person sees it. Old archives use code page 437, of which only ASCII is shown. */
function nameIn(bytes: Buffer, flags: number): string {
  const text = bytes.toString((flags & IS_UTF8) === 0 && !isUtf8(bytes) ? 'ascii' : 'utf8');
  return innerName(text);
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
