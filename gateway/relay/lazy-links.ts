import { GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { LazyFile } from '../files/lazy-files.js';
import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import type { RelayDeps } from './exchange.js';
import { type Endpoint, OwnClient } from './own-client.js';
import type { ResultPlace } from './remote-files.js';
import { isObject } from './request.js';
import { resourceAsFile } from './resource-file.js';
import { FILES_META_KEY } from './slots.js';

/** What a result has where a server only names a resource of its own. */
export const LINK_MARK = '"resource_link"';

/** Methods whose results have links. */
export const LINK_METHODS: ReadonlySet<string> = new Set(['tools/call', 'tasks/result', 'tasks/get']);

/** Clients fetch these themselves (MCP, resource links: https only where they can), or have them already. */
const NOT_OF_THE_SERVER = /^(?:https?|data):/i;

/** What a link may say of itself is kept: it must be short. */
const MAX_URI = 2048;
const MAX_WORDS = 256;

/** A link in a tool's result, with a handle for what it leads to. */
export interface AnnouncedLink {
  about: JsonObject;
  /** The result it stands in. */
  result: JsonPath;
  /** Index in `content` as the server sent it. */
  index: number;
}

/**
 * Gives the resources that results link to handles of Wharf's. Nothing is read: that happens when a handle is used.
 * Where no tool takes files there is no use for one, and the result goes as it came.
 * Never fails a message that could go without.
 */
export async function announceLinks(
  results: readonly ResultPlace[],
  principal: string,
  { server, limits, files, takers, log }: Pick<RelayDeps, 'server' | 'limits' | 'files' | 'takers' | 'log'>,
): Promise<AnnouncedLink[]> {
  if (!takers.any) return [];
  const links = results.flatMap(({ path, result: { content } }) =>
    (Array.isArray(content) ? content : []).flatMap((block, index) =>
      isObject(block) && block.type === 'resource_link' ? [{ block, path, index }] : [],
    ),
  );
  const announced: AnnouncedLink[] = [];
  const handles = new Map<string, Promise<string>>();
  try {
    for (const { block, path, index } of links) {
      const { uri, name, mimeType, size } = block;
      if (typeof uri !== 'string' || uri.length > MAX_URI || NOT_OF_THE_SERVER.test(uri) || files.library.names(uri))
        continue;
      const about = {
        ...(isShort(name) && { name }),
        ...(isShort(mimeType) && { mimeType }),
      };
      if (!handles.has(uri) && handles.size >= limits.files) break;
      const handle = handles.get(uri) ?? files.library.announce({ principal, server, uri, ...about });
      handles.set(uri, handle);
      const told = { uri: await handle, ...about, ...(typeof size === 'number' && { size }) };
      announced.push({ about: told, result: path, index });
    }
  } catch (error) {
    log.warn({ err: error }, 'a link could not be given a handle');
  }
  return announced;
}

function isShort(text: JsonValue | undefined): text is string {
  return typeof text === 'string' && text.length <= MAX_WORDS;
}

/** Reads such a resource on a session of Wharf's own. @throws GatewayError */
export async function readLazy(
  { principal, server, uri, name, mimeType }: LazyFile,
  endpoint: Endpoint,
  deps: RelayDeps,
  signal: AbortSignal,
): Promise<FileRecord> {
  const { result, files } = await new OwnClient(endpoint, principal, signal).request('resources/read', { uri }, uri);
  const { library } = deps.files;
  const record =
    files > 0
      ? await storedIn(result, principal, deps)
      : await resourceAsFile(
          uri,
          principal,
          async () => ({ result }),
          { ingest: deps.cut.ingest, library, server, limits: deps.limits },
          signal,
          { ...(name !== undefined && { name }), ...(mimeType !== undefined && { mimeType }) },
        );
  if (!record) throw new GatewayError('upstream_invalid', { reason: 'resources/read gave no content' });
  return record;
}

/** What was too large for the answer is a file already; the list of files is Wharf's own then. */
async function storedIn(
  { _meta: meta }: JsonObject,
  principal: string,
  { files }: RelayDeps,
): Promise<FileRecord | undefined> {
  const list = isObject(meta) ? meta[FILES_META_KEY] : undefined;
  const first = Array.isArray(list) ? list[0] : undefined;
  if (!isObject(first) || typeof first.uri !== 'string') return undefined;
  const found = await files.library.resolve(first.uri, principal);
  return found.kind === 'ready' ? found.record : undefined;
}
