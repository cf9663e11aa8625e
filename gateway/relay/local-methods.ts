import { GatewayError } from '../errors.js';
import type { Library } from '../files/library.js';
import type { Uploads } from '../files/upload.js';
import type { ClientFacts, Dialect, DialectMethod, FileOperation, FileOutcome } from '../ports/dialect.js';
import type { JsonObject } from '../ports/json.js';

export interface LocalMethodDeps {
  dialects: readonly Dialect[];
  library: Library;
  uploads: Uploads;
}

/** The JSON-RPC methods that dialects add: Wharf answers them, whatever the server is. */
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

  /** @throws GatewayError `params_invalid`, and what stores fail with */
  async answer(method: string, params: JsonObject, client: ClientFacts, principal: string): Promise<JsonObject> {
    const handler = this.#methods.get(method);
    if (!handler) throw new Error(`no dialect has ${method}`);
    return handler.write(await this.#perform(handler.read(params), principal), client);
  }

  async #perform(operation: FileOperation, principal: string): Promise<FileOutcome> {
    const { uploads, library } = this.#deps;
    if (operation.kind === 'authorizeUpload') {
      const { kind: _, ...wanted } = operation;
      const { uri, url, expiresAt } = await uploads.authorize({ principal, ...wanted });
      return { kind: 'upload', file: { uri, ...wanted }, upload: { url, expiresAt } };
    }
    const found = await library.resolve(operation.uri, principal);
    if (found.kind !== 'ready') {
      const [reason, text] = WHY[found.kind];
      throw new GatewayError('params_invalid', { reason, text });
    }
    // descriptors answer 200: their readers do not follow redirects
    return { kind: operation.kind === 'stat' ? 'stat' : 'download', ref: await library.refer(found.record, 'direct') };
  }
}

const WHY = {
  pending: ['uploadIncomplete', 'the file has not been uploaded yet'],
  expired: ['fileExpired', 'the file has expired'],
  unknown: ['fileNotFound', 'there is no such file of yours'],
} as const;
