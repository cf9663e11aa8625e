import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library, Opened } from '../../files/library.js';
import { SNIFF_BYTES } from '../../files/names/media-type.js';
import { isObject } from '../../json/value.js';
import { type Era, eraOf } from '../../mcp/era.js';
import { isTextual } from '../../policy/accept.js';
import { contentFacts, fileLine, lifeLine, previewLine, textLines } from '../../policy/file-words.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Preview } from '../../ports/dialect.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { utf8Text } from '../../wire/utf8.js';
import type { LocalAnswer } from '../client/local-answer.js';
import type { PendingRequest } from '../pending-request.js';
import type { OutgoingFileDeps } from '../results/outgoing-files.js';
import { type OwnUri, ownUri, severalText } from './own-uri.js';

interface OwnResourceDeps {
  library: Library;
  previewOf: OutgoingFileDeps['previewOf'];
  limits: Pick<Limits, 'inlineImage' | 'inlineOther'>;
}

/** Types that hosts can show; the library has verified them by the bytes. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

/** Why a URI of Wharf's own has no file. */
const NO_FILE_TEXTS = {
  pending: 'The file of this handle has not been uploaded yet.',
  expired: 'The file has expired. Run the tool that gave it, or upload it, again.',
  unknown: 'There is no such file of yours.',
  expiredLink: 'This link has expired. Read the handle of its file (mcp-file://…), or run the tool that gave it again.',
} as const;

/** Why what was opened is not a file. */
export function noFileText(found: Exclude<Opened, { kind: 'ready' }> | { kind: 'expiredLink' }): string {
  if (found.kind !== 'several') return NO_FILE_TEXTS[found.kind];
  const text = severalText(found.handles);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Methods about one resource. */
const METHODS = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe']);

const COMPLETION = 'completion/complete';

/** True of methods whose requests may be about one of Wharf's own files, or about resources that a server lacks. */
export function concernsResources(method: string): boolean {
  return method.startsWith('resources/') || method === COMPLETION;
}

/** Nothing can follow an address that is whole. */
const NO_COMPLETION: LocalAnswer = { result: { completion: { values: [], total: 0, hasMore: false } } };

/** Whether bytes of a resource are an image to the model: to some hosts' they are base64 in JSON, as embedded ones are. */
function showsBytes({ host }: ClientFacts): boolean {
  // one that reads links at once looks at their images
  return host?.blobs !== 'drop' || host.resourceLinks === 'no-images';
}

interface Reader {
  principal: string;
  client: ClientFacts;
  signal: AbortSignal;
  /** Hears of an error whose answer is in MCP's own words, so that it is logged, counted and audited like any other. */
  refused: (error: GatewayError) => void;
}

/** The error for a resource that does not exist. */
export function notFound(uri: JsonValue, why: string, { missingResourceCode: code }: Era): LocalAnswer {
  return { error: { code, message: `Resource not found: ${why}`, data: { uri } } };
}

/** The answer for one of Wharf's own URIs that leads this caller to no file. */
function noFile(uri: string, why: string, { client, refused }: Reader): LocalAnswer {
  refused(new GatewayError('params_invalid', { text: why }));
  return notFound(uri, why, eraOf(client.protocolVersion));
}

/**
 * Wharf's own files as resources: hosts read the links in results, and models the handles. The server is not asked,
 * because it could answer anything in the name of a file that it does not have.
 */
export class OwnResources {
  readonly #deps: OwnResourceDeps;

  constructor(deps: OwnResourceDeps) {
    this.#deps = deps;
  }

  /**
   * How a request about one of Wharf's own files is answered; undefined for all others.
   * @throws GatewayError the stores' errors; the returned function throws them too
   */
  async answerTo(
    { method, params }: Pick<PendingRequest, 'method' | 'params'>,
    reader: Reader,
  ): Promise<(() => Promise<LocalAnswer>) | undefined> {
    const { uri } = params;
    if (method === COMPLETION)
      return (await this.#completesOwn(params, reader.principal)) ? async () => NO_COMPLETION : undefined;
    const own =
      METHODS.has(method) && typeof uri === 'string' && (await ownUri(this.#deps.library, uri, reader.principal));
    if (!own) return undefined;
    return () => (method === 'resources/read' ? this.#read(own, reader) : this.#watch(own, reader));
  }

  /** True when a value to be completed, or one beside it, is a handle or a link: the server is not shown it. */
  async #completesOwn({ ref, argument, context }: JsonObject, principal: string): Promise<boolean> {
    const given = isObject(context) && isObject(context.arguments) ? Object.values(context.arguments) : [];
    const values = [isObject(ref) && ref.uri, isObject(argument) && argument.value, ...given];
    for (const value of values) {
      const wait = breathe({ principal });
      if (wait) await wait;
      if (typeof value === 'string' && (await this.#deps.library.owns(value))) return true;
    }
    return false;
  }

  async #read(own: OwnUri, reader: Reader): Promise<LocalAnswer> {
    const { library } = this.#deps;
    const { principal, client, signal } = reader;
    const era = eraOf(client.protocolVersion);
    const { uri } = own;
    if ('why' in own) return noFile(uri, noFileText({ kind: own.why }), reader);
    const found = await library.open(own.handle, principal, signal);
    if (found.kind !== 'ready') return noFile(uri, noFileText(found), reader);
    await library.touch(found.record.id);
    const contents = await this.#contents(uri, found.record, { client, signal });
    // it belongs to one caller, and expires with the file
    return { result: { contents, ...(era.hasCacheFields && { ttlMs: 0, cacheScope: 'private' }) } };
  }

  /** A file never changes, so there is nothing to do for a caller that wants to hear of changes. */
  async #watch(own: OwnUri, reader: Reader): Promise<LocalAnswer> {
    const kind = 'why' in own ? own.why : (await this.#deps.library.resolve(own.handle, reader.principal)).kind;
    if (kind === 'ready' || kind === 'lazy' || kind === 'pending') return { result: {} };
    return noFile(own.uri, NO_FILE_TEXTS[kind], reader);
  }

  /** The content itself if a host can show it or a model can read it; otherwise where to get the file. */
  async #contents(
    uri: string,
    record: FileRecord,
    { client, signal }: Pick<Reader, 'client' | 'signal'>,
  ): Promise<JsonObject[]> {
    const { limits, previewOf } = this.#deps;
    const { mimeType, size } = record;
    const isSeen = showsBytes(client);
    if (isSeen && IMAGE.test(mimeType) && size <= limits.inlineImage) {
      return [{ uri, mimeType, blob: (await this.#bytes(record, size, signal)).toString('base64') }];
    }
    // of an empty text the words about it say more
    if (isTextual(mimeType) && size > 0 && size <= limits.inlineOther) {
      const text = utf8Text(await this.#bytes(record, size, signal));
      if (text !== undefined) return [{ uri, mimeType, text }];
    }
    const preview = await previewOf(record, await this.#bytes(record, Math.min(size, SNIFF_BYTES), signal), signal);
    const about = { uri, mimeType: 'text/plain', text: await this.#about(record, preview) };
    // a host that reads a document as text takes the first item: a page as pixels would be noise to its model
    if (!preview?.image || !mimeType.startsWith('image/')) return [about];
    if (!isSeen) return [about];
    const reduced = previewLine(preview.image, preview.facts, 'above');
    const image = { uri, mimeType: preview.image.mimeType, blob: preview.image.base64 };
    return [image, { ...about, text: `${about.text}\n${reduced}` }];
  }

  async #about(record: FileRecord, preview: Preview | undefined): Promise<string> {
    const { facts = {}, text } = preview ?? {};
    const ref = await this.#deps.library.refer(record);
    return [
      fileLine(ref, contentFacts(facts)),
      ref.link.url,
      lifeLine(ref.link),
      ...(text ? textLines(text, facts) : []),
    ].join('\n');
  }

  async #bytes(record: FileRecord, length: number, signal: AbortSignal): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    const read = await this.#deps.library.read(record, signal, { start: 0, end: length - 1 });
    // it was there a moment ago, and nothing in its place is the file
    if (read.kind !== 'found') throw new GatewayError('file_gone');
    const chunks: Buffer[] = [];
    for await (const chunk of read.body) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
}
