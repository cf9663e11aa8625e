import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { Scans } from '../../files/antivirus/scans.js';
import { ByteStore } from '../../wire/json/byte-store.js';
import { SCANNED_FROM } from '../cut/places.js';
import type { Work } from './work.js';

/** What is not base64, in either alphabet. */
const OTHERS = /[^A-Za-z0-9+/_=-]+/;

/** Bytes of a text that are searched in one step. */
const SLICE = 64 * 1024;

/** Bytes from which a string of structuredContent is taken for a file. */
const NOTED_FROM = 1024;

/** Digests and ids are written like this, and files are not. */
const HEX = /^[0-9a-fA-F]+$/;

/**
 * Gives the antivirus what is short enough to stay in the message: what has become a file it has seen on its way into
 * the store. One by one, so that a message takes one place at a time, however much is in it.
 * @throws GatewayError `file_infected`, `file_unscannable`, `file_not_base64`, `antivirus_unavailable`, `antivirus_full`
 */
export async function lookInside({ cuts, deps, to }: Work): Promise<void> {
  const { antivirus, origins } = deps.cut.ingest;
  if (origins) await noteInline({ cuts, deps, to }, origins);
  if (!antivirus) return;
  const owner = { principal: to.principal, server: deps.server };
  const { signal } = to;
  const seen = new Set<string>();
  for (const cut of cuts.cuts) {
    const pieces = cut.inlineBody;
    if (!pieces) continue;
    const found = cut.inspect();
    if (found && !seen.has(found.digest) && !isHex(pieces)) {
      seen.add(found.digest);
      await antivirus.scan({ owner, path: cut.path, signal }, found.size, () => cut.decoded());
    }
  }
  // a file that Wharf cannot decode, a client may still be able to
  const odd = cuts.claimed.find(
    ({ cut, place, reading }) => cut.inline && cut.fault && place.encoding === 'base64' && reading.kind === 'mine',
  );
  if (odd) throw new GatewayError('file_not_base64', { path: odd.cut.path, reason: odd.cut.fault?.message ?? '' });
  for (const { value, nested } of cuts.texts) {
    const path = `/${value.path.join('/')}`;
    for (const part of nested.parts) {
      if (part instanceof ByteStore) await scanText(part, { antivirus, file: { owner, path, signal }, seen });
    }
  }
}

/**
 * Notes where files come from that are short enough to stay in the message, so that they are known when they come back:
 * every block's, and those of a kibibyte or more in structuredContent, where short strings are ids and tokens.
 * @throws GatewayError `too_many_files`, and the state store's errors
 */
async function noteInline({ cuts, deps, to }: Pick<Work, 'cuts' | 'deps' | 'to'>, origins: Noting): Promise<void> {
  const owner = { principal: to.principal, server: deps.server };
  const claimed = new Set(cuts.claimed.map(({ cut }) => cut));
  const seen = new Set<string>();
  for (const cut of cuts.cuts) {
    const pieces = cut.inlineBody;
    const found = pieces && !isHex(pieces) ? cut.inspect() : undefined;
    if (!found || seen.has(found.digest) || (found.size < NOTED_FROM && !claimed.has(cut))) continue;
    seen.add(found.digest);
    if (seen.size > deps.limits.files) {
      throw new GatewayError('too_many_files', { limit: 'limits.files', allowed: deps.limits.files });
    }
    await origins.note(owner, found.digest);
  }
}

type Noting = NonNullable<Work['deps']['cut']['ingest']['origins']>;

interface TextScan {
  antivirus: Scans;
  file: Parameters<Scans['scan']>[0];
  /** What was scanned already. */
  seen: Set<string>;
}

async function scanText(part: ByteStore, { antivirus, file, seen }: TextScan): Promise<void> {
  let open: string[] = [];
  for (const slice of slicesOf(part.pieces())) {
    await breathe();
    const [first = '', ...words] = wordsOf(slice);
    open.push(first);
    for (const word of words) {
      await scanWord(open.join(''), { antivirus, file, seen });
      open = [word];
    }
  }
  await scanWord(open.join(''), { antivirus, file, seen });
}

async function scanWord(word: string, { antivirus, file, seen }: TextScan): Promise<void> {
  if (word.length < SCANNED_FROM || HEX.test(word) || seen.has(word)) return;
  seen.add(word);
  const bytes = Buffer.from(word, 'base64');
  await antivirus.scan(file, bytes.length, () => [bytes]);
}

/** Both levels of JSON may escape slashes and line breaks. */
function wordsOf(slice: Buffer): string[] {
  const text = slice.toString('latin1');
  return text
    .replaceAll(/\\+[rn]/g, '')
    .replaceAll('\\', '')
    .split(OTHERS);
}

function* slicesOf(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SLICE) yield piece.subarray(at, at + SLICE);
  }
}

function isHex(pieces: readonly Buffer[]): boolean {
  return pieces.every((piece) => HEX.test(piece.toString('latin1')));
}
