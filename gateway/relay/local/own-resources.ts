import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import { SNIFF_BYTES } from '../../files/names/media-type.js';
import { eraOf } from '../../mcp/era.js';
import { isTextual } from '../../policy/accept.js';
import { fileLine, lifeLine, previewLine } from '../../policy/file-words.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/json.js';
import type { LocalAnswer } from '../client/local-answer.js';
import type { OutgoingFileDeps } from '../results/outgoing-files.js';

export interface OwnResourceDeps {
  library: Library;
  previewOf: OutgoingFileDeps['previewOf'];
  limits: Pick<Limits, 'inlineImage' | 'inlineOther'>;
}

/** Types that hosts can show; the library has verified them by the bytes. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

const WHY = {
  pending: 'The file of this handle has not been uploaded yet.',
  expired: 'The file has expired. Run the tool that gave it, or upload it, again.',
  unknown: 'There is no such file of yours.',
} as const;

/**
 * Wharf's own files as resources: hosts read the links in results, and models the handles. The server is not asked,
 * because it could answer anything in the name of a file that it does not have.
 */
export class OwnResources {
  readonly #deps: OwnResourceDeps;

  constructor(deps: OwnResourceDeps) {
    this.#deps = deps;
  }

  /** The handle that a URI is, or leads to; undefined for a server's own URI. */
  async handleOf(uri: string): Promise<string | undefined> {
    const { library } = this.#deps;
    return library.claims(uri) ? uri : library.handleOfLink(uri);
  }

  /**
   * The answer to `resources/read`.
   * @param handle the result of `handleOf` for the URI
   * @throws GatewayError the stores' errors
   */
  async read(
    uri: string,
    handle: string,
    { principal, client, signal }: { principal: string; client: ClientFacts; signal: AbortSignal },
  ): Promise<LocalAnswer> {
    const { library } = this.#deps;
    const { missingResourceCode: code, hasCacheFields } = eraOf(client.protocolVersion);
    const found = await library.open(handle, principal, signal);
    if (found.kind !== 'ready') {
      return { error: { code, message: `Resource not found: ${WHY[found.kind]}`, data: { uri } } };
    }
    await library.touch(found.record.id);
    const contents = await this.#contents(uri, found.record, signal);
    // it belongs to one caller, and expires with the file
    return { result: { contents, ...(hasCacheFields && { ttlMs: 0, cacheScope: 'private' }) } };
  }

  /** The content itself if a host can show it or a model can read it; otherwise where to get the file. */
  async #contents(uri: string, record: FileRecord, signal: AbortSignal): Promise<JsonObject[]> {
    const { limits, previewOf } = this.#deps;
    const { mimeType, size } = record;
    if (IMAGE.test(mimeType) && size <= limits.inlineImage) {
      return [{ uri, mimeType, blob: (await this.#bytes(record, size, signal)).toString('base64') }];
    }
    if (isTextual(mimeType) && size <= limits.inlineOther) {
      const text = utf8(await this.#bytes(record, size, signal));
      if (text !== undefined) return [{ uri, mimeType, text }];
    }
    const about = { uri, mimeType: 'text/plain', text: await this.#about(record) };
    const preview = await previewOf(record, await this.#bytes(record, Math.min(size, SNIFF_BYTES), signal), signal);
    if (!preview?.image) return [about];
    const reduced = previewLine(preview.image, preview.facts, 'above');
    const image = { uri, mimeType: preview.image.mimeType, blob: preview.image.base64 };
    return [image, { ...about, text: `${about.text}\n${reduced}` }];
  }

  async #about(record: FileRecord): Promise<string> {
    const ref = await this.#deps.library.refer(record);
    return [fileLine(ref), ref.link.url, lifeLine(ref.link)].join('\n');
  }

  async #bytes({ key }: FileRecord, length: number, signal: AbortSignal): Promise<Buffer> {
    const range = { start: 0, end: Math.max(length - 1, 0) };
    const read = length === 0 ? undefined : await this.#deps.library.read(key, signal, range);
    const chunks: Buffer[] = [];
    if (read?.kind === 'found') for await (const chunk of read.body) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
