import { createHash } from 'node:crypto';
import { breathe } from '../../../budget/turn.js';
import { GatewayError } from '../../../errors.js';
import { mediaTypeOf } from '../../../files/names/media-type.js';
import type { Owner } from '../../../ports/owner.js';
import { decodeTolerantBase64 } from '../../../wire/base64/decode-text.js';
import { readDataUri } from '../../../wire/data-uri.js';
import type { Cut } from '../../cut/cut.js';
import { NestedCuts } from '../../cut/nested-cuts.js';
import { createMarks } from '../nested-marks.js';
import type { Work } from '../work.js';
import { areHex, wordsOf } from './words.js';

/** Bytes from which a string is taken for a file where nothing says that it is one: shorter ones are ids and tokens. */
const UNMARKED_FROM = 1024;

/** Its length as base64. */
const UNMARKED_LENGTH = Math.ceil(UNMARKED_FROM / 3) * 4;

/** Most bytes of a text whose strings are looked at: each is decoded in one step. */
const MOST_PARSED = 4 * 1024 * 1024;

/** How a string of base64 begins, in lines or not, that has 48 bytes at least; or a `data:` URI. */
const BEGINNING = /^(?:data:|[\w+/\s=-]{64})/i;
const DATA = /^data:/i;

type Noting = NonNullable<Work['deps']['cut']['ingest']['origins']>;
type Facts = Pick<Work, 'cuts' | 'deps' | 'to'>;
type Note = (digest: string, declared?: string) => Promise<void>;

/**
 * Notes where the files of a message come from that get no record, so that they are known when they come back: every one
 * where only a file may be; in structuredContent and in texts that are JSON, base64 of a kibibyte or more, and shorter
 * one that the JSON around it calls a file.
 * @throws GatewayError `too_many_files`, and the state store's errors
 */
export async function noteOrigins({ cuts, deps, to }: Facts, origins: Noting): Promise<void> {
  const owner = { principal: to.principal, server: deps.server };
  const { files: allowed } = deps.limits;
  const seen = new Set<string>();
  const noted = new Set<string>();
  const note: Note = async (digest, declared) => {
    const mimeType = declared === undefined ? undefined : mediaTypeOf(declared, undefined);
    if (noted.has(`${digest} ${mimeType}`)) return;
    noted.add(`${digest} ${mimeType}`);
    seen.add(digest);
    const actual = seen.size;
    if (actual > allowed) throw new GatewayError('too_many_files', { limit: 'limits.files', allowed, actual });
    await origins.note({ ...owner, mimeType }, digest);
  };
  const claimed = new Map(cuts.claimed.map((one) => [one.cut, one]));
  for (const cut of cuts.cuts) {
    const isFile = claimed.has(cut) || deps.cut.places.get(cut.value.slot)?.place.encoding === 'base64';
    // what gets a record is noted with it; the rest of what left the message is put back into it
    const hasRecord = cut.stored !== undefined && claimed.get(cut)?.reading !== undefined;
    const digest = hasRecord ? undefined : (cut.stored?.digest ?? inlineDigest(cut, isFile));
    const reading = claimed.get(cut)?.reading;
    const declared = reading?.claims.mimeType;
    if (digest !== undefined) await note(digest, declared);
  }
  for (const { nested } of cuts.texts) if (nested instanceof NestedCuts) await noteText(nested, note, owner);
}

function inlineDigest(cut: Cut, isFile: boolean): string | undefined {
  const pieces = cut.inlineBody;
  if (!pieces || (!isFile && areHex(pieces))) return undefined;
  const found = cut.inspect();
  return found && found.size >= (isFile ? 1 : UNMARKED_FROM) ? found.digest : undefined;
}

/** A text that is JSON may hold files in its strings. */
async function noteText(nested: NestedCuts, note: Note, owner: Owner): Promise<void> {
  await breathe(owner);
  const strings = nested.size <= MOST_PARSED ? await nested.strings() : undefined;
  if (!strings) {
    // too much to be parsed: its words are looked at, and nothing says which of them are files
    for await (const word of wordsOf(nested, UNMARKED_LENGTH, owner)) await note(digestOf(Buffer.from(word, 'base64')));
    return;
  }
  const isMarked = createMarks();
  for (const [text, place] of strings) {
    const isLong = text.length >= UNMARKED_LENGTH;
    if (!BEGINNING.test(text)) continue;
    if (!isLong && !isMarked(place) && !DATA.test(text)) continue;
    await breathe(owner);
    const found = fileIn(text);
    if (found && found.bytes.length > 0) await note(digestOf(found.bytes), found.mimeType);
  }
}

function fileIn(text: string): { bytes: Buffer; mimeType?: string } | undefined {
  if (DATA.test(text)) {
    const read = readDataUri(text);
    return typeof read === 'string' ? undefined : read;
  }
  const bytes = areHex([Buffer.from(text, 'latin1')]) ? undefined : decodeTolerantBase64(text);
  return bytes && { bytes };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
