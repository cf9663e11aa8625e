import type { GatewayError } from '../../../errors.js';
import { OCTET_STREAM, SNIFF_BYTES, sniff } from '../../../files/names/media-type.js';
import { resultTypeOf, typeRefused } from '../../../files/names/result-type.js';
import { sizeText } from '../../../policy/amounts.js';
import { type AcceptRule, refusingRule } from '../../../policy/message-limits.js';
import type { FileClaims } from '../../../ports/file.js';
import type { JsonObject, JsonPath } from '../../../ports/json.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { Cut } from '../../cut/cut.js';
import { FILE_ERROR_META_KEY } from '../../cut/places.js';
import { causeOf } from '../../exchange.js';
import { logError } from '../../exchange-log.js';
import { refuseDuplicates } from '../duplicates.js';
import { resultOf } from '../host/shown-file.js';
import type { Work } from '../work.js';

/** Most characters of a file's name in a text. */
const LONGEST_NAME = 200;

/** A file that the config keeps from the client, because of its media type. */
export interface RefusedFile {
  /** Path of the result that holds it. */
  result: JsonPath;
  /** The model reads this in its place. */
  text: string;
  /** Programs read this in `_meta`. */
  facts: JsonObject;
  error: GatewayError;
}

/** What is known about the place of a file. */
interface TypeContext {
  /** True when the value at this path is part of a result that can contain files. */
  mayHoldFiles: (path: JsonPath) => boolean;
  /** The base of the names of nameless files at this path. */
  subject: (path: JsonPath) => string;
  /** The tool whose result the path is in. */
  tool: (path: JsonPath) => string | undefined;
}

/** The files of one message whose media types `acceptResults` refuses. */
export class RefusedFiles {
  readonly #rules: readonly AcceptRule[];
  readonly #work: Work;
  readonly #context: TypeContext;
  readonly #byCut = new Map<Cut, RefusedFile | undefined>();
  readonly #digests = new Map<string, RefusedFile>();
  readonly #places = new Set<string>();

  private constructor(rules: readonly AcceptRule[], work: Work, context: TypeContext) {
    this.#rules = rules;
    this.#work = work;
    this.#context = context;
  }

  /**
   * Judges every file of a message that stands where only a file may be.
   * @returns undefined where every type will do
   * @throws GatewayError `file_key_duplicate`, `file_type_refused` when the type of a file cannot be known
   */
  static async of(work: Work, context: TypeContext): Promise<RefusedFiles | undefined> {
    const { cuts, deps, message } = work;
    const rules = deps.limits.acceptResults;
    if (!rules) return undefined;
    const refused = new RefusedFiles(rules, work, context);
    const isFile = (cut: Cut) => deps.cut.places.get(cut.value.slot)?.place.encoding === 'base64';
    const inPlace = cuts.cuts.filter((cut) => isFile(cut) && context.mayHoldFiles(cut.value.path));
    if (inPlace.length > 0) refuseDuplicates(message);
    const known = new Set(cuts.claimed.map(({ cut }) => cut));
    for (const cut of inPlace) {
      // the object around it is too large to be read, so nothing says what it is; its client would still read it
      if (!known.has(cut)) throw typeRefused(cut.path, OCTET_STREAM, rules[0] as AcceptRule);
    }
    for (const { cut, reading, place, range } of cuts.claimed) {
      if (!reading || !context.mayHoldFiles(cut.value.path)) continue;
      if (place.encoding === 'dataUri' && !cut.dataUri) continue;
      const claims = { ...reading.claims, ...(place.encoding === 'dataUri' && cut.dataUri) };
      const { path } = range;
      const found = await refused.judge(cut, claims, { path, result: resultOf(path) });
      if (found) refused.#places.add(pointer(range.path));
    }
    return refused;
  }

  /** The refused files that were found so far. */
  get all(): RefusedFile[] {
    return [...this.#byCut.values()].filter((one) => one !== undefined);
  }

  /** True when the object at this path holds such a file. */
  holdsAt(path: JsonPath): boolean {
    return this.#places.has(pointer(path));
  }

  of(cut: Cut): RefusedFile | undefined {
    return this.#byCut.get(cut);
  }

  /** The refused file with the same bytes. */
  same(cut: Cut): RefusedFile | undefined {
    if (this.#digests.size === 0) return undefined;
    const digest = cut.stored?.digest ?? cut.inspect()?.digest;
    return digest === undefined ? undefined : this.#digests.get(digest);
  }

  /**
   * Judges one file by its bytes and by what the server says of it. A refusal is counted and noted once.
   * @param place path of the object, or of the string, that holds it, and of its result
   */
  async judge(cut: Cut, claims: FileClaims, place: Place): Promise<RefusedFile | undefined> {
    if (this.#byCut.has(cut)) return this.#byCut.get(cut);
    const found = cut.stored ?? cut.inspect();
    // what Wharf cannot decode, a client may still be able to
    const type = found ? resultTypeOf({ declared: claims.mimeType, sniffed: await sniff(headOf(cut)) }) : OCTET_STREAM;
    const rule = refusingRule(this.#rules, type);
    const { size = 0, digest } = found ?? {};
    const refused = rule && this.#refuse({ type, size, digest, rule, claims, ...place });
    this.#byCut.set(cut, refused);
    if (refused && digest !== undefined) this.#digests.set(digest, refused);
    return refused;
  }

  #refuse({ type, size, digest, rule, claims, path, result }: Judged): RefusedFile {
    const { deps, to } = this.#work;
    const { server, files, metrics } = deps;
    const { principal } = to;
    const tool = this.#context.tool(path);
    metrics.count('wharf_limits_total', { limit: 'limits.acceptResults' });
    files.audit.note({
      what: 'file',
      principal,
      ...causeOf(to),
      server,
      from: server,
      subject: this.#context.subject(path),
      ...(tool !== undefined && { tool }),
      files: [{ digest, size, mimeType: type }],
      allowed: false,
      rule: rule.source,
      code: 'file_type_refused',
    });
    const error = typeRefused(pointer(path), type, rule);
    const about =
      claims.name === undefined ? 'A file' : `The file ${JSON.stringify(claims.name.slice(0, LONGEST_NAME))}`;
    const text =
      `${about} of this result (${type}, ${sizeText(size)}) is left out: of this server's files, only those of these ` +
      `types are passed on: ${rule.types.join(', ')}.`;
    const facts = { reason: 'mimeTypeNotAccepted', accept: [...rule.types], actualType: type };
    logError(deps, error, 'a file of a result was left out', { exchange: to });
    return { result, text, facts, error };
  }
}

interface Place {
  path: JsonPath;
  result: JsonPath;
}

interface Judged extends Place {
  type: string;
  size: number;
  digest: string | undefined;
  rule: AcceptRule;
  claims: FileClaims;
}

/** What stands in the place of a refused file. @param holder the object that held it */
export function refusedBlock(
  kind: 'content' | 'prompt' | 'resource',
  { text, facts }: RefusedFile,
  holder: JsonObject,
): JsonObject {
  const _meta = { [FILE_ERROR_META_KEY]: facts };
  if (kind !== 'resource') return { type: 'text', text, _meta };
  return { uri: holder.uri ?? '', mimeType: 'text/plain', text, _meta };
}

function headOf(cut: Cut): Buffer {
  if (cut.stored) return cut.stored.head;
  const head: Buffer[] = [];
  let length = 0;
  for (const piece of cut.decoded()) {
    head.push(piece);
    length += piece.length;
    if (length >= SNIFF_BYTES) break;
  }
  return Buffer.concat(head);
}
