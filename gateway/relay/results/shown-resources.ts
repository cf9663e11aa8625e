import { speaks } from '../../hosts/spoken.js';
import { isObject } from '../../json/value.js';
import type { AuditCause } from '../../ports/audit.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { JsonObject, JsonPath } from '../../ports/json.js';
import { pointer } from '../../wire/json/pointer.js';
import type { Cut } from '../cut/cut.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import type { ResultDeps } from './deps.js';
import type { ResultPlace } from './remote-files.js';
import { contentAsFile } from './resource-file.js';
import type { RefusedFiles } from './types/refused-files.js';

/** Clients fetch these themselves, or already have them. */
const NOT_OF_THE_SERVER = /^(?:https?|data|file):/i;

/** True when a client uses one of Wharf's methods to fetch what a URI in a result refers to. */
function asksForUris(client: ClientFacts, dialects: readonly Dialect[]): boolean {
  return dialects.some((dialect) => dialect.methods && speaks(client, dialect));
}

/** For whom the content is kept, and what is not. */
interface Keeping {
  client: ClientFacts;
  principal: string;
  /** For the audit log. */
  by: AuditCause;
  signal: AbortSignal;
  refused: RefusedFiles | undefined;
}

/**
 * Keeps the content of embedded resources, for clients that expect to be able to fetch every URI in a result; servers
 * need not be able to read them again. A failure never fails the message.
 */
export async function keepShownResources(
  results: readonly ResultPlace[],
  cuts: MessageCuts,
  { client, principal, by, signal, refused }: Keeping,
  { server, dialects, limits, files, cut, log }: ResultDeps,
): Promise<void> {
  if (!asksForUris(client, dialects)) return;
  const { library } = files;
  const byPath = new Map(cuts.cuts.map((cut) => [pointer(cut.value.path), cut]));
  let kept = 0;
  try {
    for (const { path, result } of results) {
      const { content } = result;
      for (const [index, block] of Array.isArray(content) ? content.entries() : []) {
        const resource = isObject(block) && block.type === 'resource' ? block.resource : undefined;
        if (refused?.holdsAt([...path, 'content', index])) continue;
        if (!isObject(resource) || typeof resource.uri !== 'string' || NOT_OF_THE_SERVER.test(resource.uri)) continue;
        const item = withBlob(resource, [...path, 'content', index, 'resource', 'blob'], byPath);
        if (!item || library.names(resource.uri)) continue;
        if (kept >= limits.files) return;
        kept += 1;
        const { uri } = resource;
        const deps = { ingest: cut.ingest, library, server, limits };
        const record = await contentAsFile(item, { principal, by, signal }, deps, { uri });
        if (record) await library.noteShown({ principal, server, uri }, record.id);
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, 'a resource in a result could not be kept');
  }
}

/** A short blob is still in memory; a long one has become a file, which its block names. */
function withBlob(resource: JsonObject, path: JsonPath, cuts: ReadonlyMap<string, Cut>): JsonObject | undefined {
  if (resource.blob !== '') return resource;
  const cut = cuts.get(pointer(path));
  const blob = cut?.inline && Buffer.concat(cut.inline).toString('latin1');
  return blob === undefined ? undefined : { ...resource, blob };
}
