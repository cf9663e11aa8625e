import { isObject } from '../../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { ResultDeps } from './deps.js';
import type { ResultPlace } from './remote-files.js';

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
  { server, limits, files, takers, log }: Pick<ResultDeps, 'server' | 'limits' | 'files' | 'takers' | 'log'>,
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
      // each is told of, whatever it leads to
      if (announced.length >= limits.files) break;
      const { uri, name, mimeType, size } = block;
      if (typeof uri !== 'string' || uri.length > MAX_URI || NOT_OF_THE_SERVER.test(uri) || files.library.names(uri))
        continue;
      const about = {
        ...(isShort(name) && { name }),
        ...(isShort(mimeType) && { mimeType }),
      };
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
