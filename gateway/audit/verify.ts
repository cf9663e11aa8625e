import { createReadStream } from 'node:fs';
import { type ChainEnd, follows, isFirst, type Link, MOST_LINE, readLine } from './chain.js';

/** Most faults that the report lists one by one. */
const MOST_FAULTS = 100;

/** What was found of one chain. */
interface FoundChain {
  chain: string;
  lines: number;
  first: Link;
  last: Link;
}

/** What is wrong with audit logs, if anything. */
export interface Verdict {
  chains: FoundChain[];
  /** One sentence each. */
  faults: string[];
  /** Faults beyond those. */
  moreFaults: number;
}

/** A point of a chain that is known from elsewhere, as `SEQ:HASH`. */
export interface KnownPoint {
  seq: number;
  hash: string;
}

/**
 * Reads audit logs and finds lines that were changed, moved or taken out. Files are read in the order of their first
 * lines; lines of several chains may be mixed, as a collector of logs mixes them.
 * @param points that one of the chains must pass: without one, lines missing at the end cannot be seen
 */
export async function verifyFiles(files: readonly string[], points: readonly KnownPoint[] = []): Promise<Verdict> {
  const found = new Verification(points);
  for (const file of await inOrder(files)) {
    let number = 0;
    for await (const line of linesOf(file)) found.take(line, `${file}:${++number}`);
  }
  return found.end();
}

class Verification {
  readonly #chains = new Map<string, FoundChain>();
  readonly #points: Map<string, KnownPoint>;
  readonly #faults: string[] = [];
  #more = 0;

  constructor(points: readonly KnownPoint[]) {
    this.#points = new Map(points.map((point) => [`${point.seq}:${point.hash}`, point]));
  }

  take(line: string | undefined, place: string): void {
    const link = line === undefined ? undefined : readLine(line);
    if (!link) {
      this.#fault(`${place} is not as Wharf wrote it.`);
      return;
    }
    this.#points.delete(`${link.seq}:${link.hash}`);
    const known = this.#chains.get(link.chain);
    if (!known) {
      this.#chains.set(link.chain, { chain: link.chain, lines: 1, first: link, last: link });
      if (link.seq === 1 && !isFirst(link)) this.#fault(`${place} is not the beginning of a chain.`);
      return;
    }
    if (!follows(known.last, link)) this.#fault(`${place} ${gap(known.last, link)}`);
    known.lines += 1;
    known.last = link;
  }

  end(): Verdict {
    for (const { seq, hash } of this.#points.values())
      this.#fault(`No line has the number ${seq} and the hash ${hash}.`);
    return { chains: [...this.#chains.values()], faults: this.#faults, moreFaults: this.#more };
  }

  #fault(text: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(text);
    else this.#more += 1;
  }
}

function gap(last: ChainEnd, { seq }: Link): string {
  const missing = seq - last.seq - 1;
  if (missing === 1) return `follows line ${last.seq}: line ${last.seq + 1} is missing before it.`;
  if (missing > 1) return `follows line ${last.seq}: lines ${last.seq + 1} to ${seq - 1} are missing before it.`;
  if (missing < 0) return `has the number ${seq} after line ${last.seq}: it stands twice, or was moved.`;
  return `does not name the hash of line ${last.seq} before it: one of the two was replaced.`;
}

/** Files in the order of their first lines: names on a command line come in any. */
async function inOrder(files: readonly string[]): Promise<string[]> {
  const firsts = await Promise.all(
    files.map(async (file) => {
      for await (const line of linesOf(file)) return { file, link: line === undefined ? undefined : readLine(line) };
      return { file, link: undefined };
    }),
  );
  const placeOf = ({ link }: { link: Link | undefined }) => link?.seq ?? 0;
  return firsts.sort((a, b) => placeOf(a) - placeOf(b)).map(({ file }) => file);
}

/** The lines of a file; undefined for one that is too long to be one of Wharf's, of which nothing is kept. */
async function* linesOf(file: string): AsyncGenerator<string | undefined> {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file)) {
    let at = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      yield length + end - at > MOST_LINE ? undefined : Buffer.concat([...rest, chunk.subarray(at, end)]).toString();
      rest = [];
      length = 0;
      at = end + 1;
    }
    length += chunk.length - at;
    if (length <= MOST_LINE) rest.push(chunk.subarray(at));
    else rest = [];
  }
  if (length > 0) yield length > MOST_LINE ? undefined : Buffer.concat(rest).toString();
}
