import type { LazyFile } from '../../files/handles/lazy-files.js';
import { cleanFileName } from '../../files/names/file-name.js';
import { isMediaType } from '../../files/names/media-type.js';
import { isObject } from '../../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { ResultDeps } from './deps.js';
import type { ResultPlace } from './remote-files.js';

/** Clients fetch these themselves (MCP, resource links: https only where they can), or already have them. */
const NOT_OF_THE_SERVER = /^(?:https?|data):/i;

/** A link's own texts are stored, so they must be short. */
const MAX_URI = 2048;
const MAX_WORDS = 256;

/** A link in a tool's result, with a handle for its target. */
export interface AnnouncedLink {
  about: JsonObject;
  /** Path of the result. */
  result: JsonPath;
  /** Index in `content` as the server sent it. */
  index: number;
}

/**
 * Gives handles of Wharf's to the resources that results link to. Nothing is read before a handle is used. A failure
 * leaves out the handle, not the message.
 */
export async function announceLinks(
  results: readonly ResultPlace[],
  principal: string,
  { server, limits, files, log }: Pick<ResultDeps, 'server' | 'limits' | 'files' | 'log'>,
): Promise<AnnouncedLink[]> {
  const links = results.flatMap(({ path, result: { content } }) =>
    (Array.isArray(content) ? content : []).flatMap((block, index) =>
      isObject(block) && block.type === 'resource_link' ? [{ block, path, index }] : [],
    ),
  );
  const announced: AnnouncedLink[] = [];
  const handles = new Map<string, Promise<string>>();
  try {
    for (const { block, path, index } of links) {
      // links are counted one by one, even with the same target
      if (announced.length >= limits.files) break;
      const { uri, name, mimeType, size } = block;
      // a long one is out of the message, and empty here
      if (typeof uri !== 'string' || uri === '' || uri.length > MAX_URI) continue;
      if (NOT_OF_THE_SERVER.test(uri) || files.library.names(uri)) continue;
      const about = wordsOf(name, mimeType);
      const handle = handles.get(uri) ?? files.library.announce({ principal, server, uri, ...about });
      handles.set(uri, handle);
      const told = { uri: await handle, ...about, ...(typeof size === 'number' && { size }) };
      announced.push({ about: told, result: path, index });
    }
  } catch (error) {
    log.warn({ err: error }, 'no handle could be made for a link');
  }
  return announced;
}

/** Programs save files under the names in this list: each is a clean file name, whichever way its file came. */
function wordsOf(name: JsonValue | undefined, mimeType: JsonValue | undefined): Pick<LazyFile, 'name' | 'mimeType'> {
  const clean = isShort(name) ? cleanFileName(name, '') : '';
  return {
    ...(clean !== '' && { name: clean }),
    ...(isShort(mimeType) && isMediaType(mimeType) && { mimeType }),
  };
}

function isShort(text: JsonValue | undefined): text is string {
  return typeof text === 'string' && text.length <= MAX_WORDS;
}
