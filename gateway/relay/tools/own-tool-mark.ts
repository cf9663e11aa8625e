import { isObject } from '../../json/value.js';
import type { JsonObject } from '../../ports/json.js';
import { OWN_TOOL_META_KEY } from '../cut/places.js';

/** Whether a tool in a server's list is one of Wharf's: the server is behind another one. */
export function isWharfs({ _meta }: JsonObject): boolean {
  return isObject(_meta) && _meta[OWN_TOOL_META_KEY] === true;
}
