import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import { STATELESS_SINCE } from '../../mcp/request.js';
import { isTextual } from '../../policy/accept.js';
import { sizeText } from '../../policy/amounts.js';
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

/** What tells a file's type. */
const HEAD_BYTES = 4100;

/** Types that hosts show, and that no bytes can pretend to be: the library has looked at them. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

/** MCP, resources: before 2026-07-28 a resource that is not there has a code of its own. */
const NOT_FOUND = -32002;
const INVALID_PARAMS = -32602;

const WHY = {
  pending: 'The file of this handle has not been uploaded yet.',
  expired: 'The file has expired. Run the tool that gave it, or upload it, again.',
  unknown: 'There is no such file of yours.',
} as const;

/**
 * Files of Wharf's own as resources: hosts read the links that results hold, and models the handles. No server hears of
 * it, for it could answer anything in the name of a file that it does not have.
 */
export class OwnResources {
  readonly #deps: OwnResourceDeps;

  constructor(deps: OwnResourceDeps) {
    this.#deps = deps;
  }

  /** The handle that a URI is, or leads to; undefined for what is a server's own. */
  async handleOf(uri: string): Promise<string | undefined> {
    const { library } = this.#deps;
    return library.claims(uri) ? uri : library.handleOfLink(uri);
  }

  /**
   * The answer to `resources/read`.
   * @param handle what `handleOf` gave for the URI
   * @throws GatewayError what the stores fail with
   */
  async read(
    uri: string,
    handle: string,
    { principal, client, signal }: { principal: string; client: ClientFacts; signal: AbortSignal },
  ): Promise<LocalAnswer> {
    const { library } = this.#deps;
    const isStateless = client.protocolVersion >= STATELESS_SINCE;
    const found = await library.open(handle, principal, signal);
    if (found.kind !== 'ready') {
      const code = isStateless ? INVALID_PARAMS : NOT_FOUND;
      return { error: { code, message: `Resource not found: ${WHY[found.kind]}`, data: { uri } } };
    }
    await library.touch(found.record.id);
    const contents = await this.#contents(uri, found.record, signal);
    // it is one caller's, and gone with the file
    return { result: { contents, ...(isStateless && { ttlMs: 0, cacheScope: 'private' }) } };
  }

  /** What a host can show, or a model read, by itself; else where the file is to be had. */
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
    const preview = await previewOf(record, await this.#bytes(record, Math.min(size, HEAD_BYTES), signal), signal);
    if (!preview) return [about];
    const { width, height, source } = preview;
    const reduced =
      `The image above is a preview of ${width} × ${height} pixels; ` +
      `the original is ${source.width} × ${source.height}.`;
    const image = { uri, mimeType: preview.mimeType, blob: preview.base64 };
    return [image, { ...about, text: `${about.text}\n${reduced}` }];
  }

  async #about(record: FileRecord): Promise<string> {
    const { name, mimeType, size, link } = await this.#deps.library.refer(record);
    return `File: ${name} (${mimeType}, ${sizeText(size)})\nDownload: ${link.url}\nThe link works until ${link.expiresAt}.`;
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
