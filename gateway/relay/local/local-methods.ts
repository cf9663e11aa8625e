import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library, Opened } from '../../files/library.js';
import type { UploadLinks } from '../../files/uploads/upload-links.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, DialectMethod, FileOperation, FileOutcome } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';
import type { LocalAnswer } from '../client/local-answer.js';
import { ownUri, severalText } from './own-uri.js';

export interface LocalMethodDeps {
  dialects: readonly Dialect[];
  uploadLinks: UploadLinks;
  library: Library;
  server: string;
  /** `limits.file` of that server, for this caller. */
  fileLimit: number;
}

/** The caller, and how to read what its server has. */
interface MethodCaller {
  client: ClientFacts;
  principal: string;
  /**
   * Makes a file of a resource, undefined if the server has none; throws why it could not be read. Absent when there is
   * no channel to the server yet.
   */
  read: ((uri: string) => Promise<FileRecord | undefined>) | undefined;
  signal: AbortSignal;
  /** Hears of an error that the dialect has words of its own for. */
  refused: (error: GatewayError) => void;
}

/** Handles of files are not resources of a server. */
const HANDLE = /^mcp-file:/i;

/** The JSON-RPC methods that dialects add: Wharf answers them for every server. */
export class LocalMethods {
  readonly #deps: LocalMethodDeps;
  readonly #methods: ReadonlyMap<string, DialectMethod>;

  constructor(deps: LocalMethodDeps) {
    this.#deps = deps;
    this.#methods = new Map(deps.dialects.flatMap((dialect) => Object.entries(dialect.methods ?? {})));
  }

  has(method: string): boolean {
    return this.#methods.has(method);
  }

  /** @throws GatewayError `params_invalid`, and the stores' errors */
  async answer(method: string, params: JsonObject, caller: MethodCaller): Promise<LocalAnswer> {
    const handler = this.#methods.get(method);
    if (!handler) throw new Error(`no dialect has ${method}`);
    try {
      return { result: handler.write(await this.#perform(handler.read(params), caller), caller.client) };
    } catch (thrown) {
      const answer = thrown instanceof GatewayError ? refusalOf(thrown, handler) : undefined;
      if (!answer) throw thrown;
      caller.refused(thrown as GatewayError);
      return answer;
    }
  }

  async #perform(operation: FileOperation, caller: MethodCaller): Promise<FileOutcome> {
    const { uploadLinks, library, server, fileLimit } = this.#deps;
    const { principal } = caller;
    if (operation.kind === 'authorizeUpload') {
      const { kind: _, ...wanted } = operation;
      const intent = {
        principal,
        ...wanted,
        maxSize: fileLimit,
        maxSizeBy: { limit: 'limits.file' },
        purpose: { server },
      };
      const { uri, url, expiresAt } = await uploadLinks.authorize(intent);
      return { kind: 'upload', file: { uri, ...wanted }, upload: { url, expiresAt } };
    }
    const { kind, uri } = operation;
    const found = await this.#find(uri, caller);
    if (found.kind !== 'ready') {
      const [reason, text] =
        found.kind === 'several' ? (['tooManyFiles', severalText(found.handles)] as const) : WHY[found.kind];
      throw new GatewayError('params_invalid', { reason, text });
    }
    await library.touch(found.record.id);
    // descriptors need a link that answers 200: their readers do not follow redirects
    const ref = await library.refer(found.record, 'direct');
    return { kind: kind === 'stat' ? 'stat' : 'download', uri, ref };
  }

  async #find(uri: string, caller: MethodCaller): Promise<Opened | { kind: 'expiredLink' }> {
    const { library } = this.#deps;
    const own = HANDLE.test(uri) ? { uri, handle: uri } : await ownUri(library, uri, caller.principal);
    if (!own) return this.#resource(uri, caller);
    return 'why' in own ? { kind: own.why } : library.open(own.handle, caller.principal, caller.signal);
  }

  /** Some clients expect to fetch every URI in a result here, including the server's resources. */
  async #resource(uri: string, { principal, read, signal }: MethodCaller): Promise<Opened> {
    const { library, server } = this.#deps;
    let failure: unknown;
    const own = await read?.(uri).catch((thrown: unknown) => {
      signal.throwIfAborted();
      failure = thrown;
      return undefined;
    });
    // an embedded resource need not be readable from the server
    const record = own ?? (await library.shown({ principal, server, uri }));
    if (!record && failure) throw failure;
    return record ? { kind: 'ready', record } : { kind: 'unknown' };
  }
}

const WHY = {
  pending: ['uploadIncomplete', 'the file has not been uploaded yet'],
  expired: ['fileExpired', 'the file has expired'],
  expiredLink: ['fileExpired', 'this link has expired; the handle of its file may still be good'],
  unknown: ['fileNotFound', 'there is no such file of yours'],
} as const;

/** The error in the dialect's own form, if it has one. */
function refusalOf(error: GatewayError, handler: DialectMethod): LocalAnswer | undefined {
  const { reason, allowed, actual } = error.facts;
  if (typeof reason !== 'string') return undefined;
  const data = handler.refuse?.({
    reason,
    ...(typeof allowed === 'number' && { maxSize: allowed }),
    ...(typeof actual === 'number' && { actualSize: actual }),
  });
  return data && { error: { ...error.toJsonRpc(), data } };
}
