import { isObject } from '../../json/value.js';
import type { JsonObject } from '../../ports/json.js';
import { OWN_TOOL_META_KEY } from '../cut/places.js';

/** True for a tool of Wharf's in a server's list: the server is behind another Wharf. */
export function isWharfs({ _meta }: JsonObject): boolean {
  return isObject(_meta) && _meta[OWN_TOOL_META_KEY] === true;
}
