import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { Judge } from './judge.js';
import { declaresBase64 } from './published.js';
import { listOf, UNIONS } from './walk.js';

/** True when a schema declares the string at `path` as base64: `contentEncoding: base64`, `base64url`, or `format: base64`. */
export function isDeclaredBase64(schema: JsonObject | undefined, path: JsonPath): boolean {
  return schema !== undefined && declares(new Judge(schema), schema, path, 0);
}

function declares(judge: Judge, node: JsonValue | undefined, path: JsonPath, depth: number): boolean {
  if (!judge.look() || !judge.isReadable(node, depth)) return false;
  const [key, ...rest] = path;
  if (key === undefined && declaresBase64(node)) return true;
  const here = (one: JsonValue | undefined) => declares(judge, one, path, depth + 1);
  if (here(judge.target(node.$ref)) || here(node.then) || here(node.else)) return true;
  if (UNIONS.some((keyword) => listOf(node[keyword]).some(here))) return true;
  return key !== undefined && childrenOf(judge, node, key).some((child) => declares(judge, child, rest, depth + 1));
}

function childrenOf(judge: Judge, node: JsonObject, key: string | number): (JsonValue | undefined)[] {
  if (typeof key === 'string') return judge.childrenOf(node, key).map(({ schema }) => schema);
  const { prefixItems, items, additionalItems } = node;
  const prefix = [listOf(prefixItems)[key], listOf(items)[key]].filter((item) => item !== undefined);
  return prefix.length > 0 ? prefix : [items, additionalItems];
}
