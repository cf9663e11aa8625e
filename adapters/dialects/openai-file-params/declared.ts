import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { META_KEY, NAME } from './file-param.js';
import { isObject } from './json.js';

/** What stands in each member: a link that the server fetches, and what is known of the file. */
const MEMBERS: readonly (readonly [string, string])[] = [
  ['download_url', '$url'],
  ['file_id', '$handle'],
  ['mime_type', '$mime'],
  ['file_name', '$name'],
];

/** A chain of local references may refer to itself. */
const MAX_REFS = 16;

/** The arguments that a server says take such objects. Names that fit no object property are none. */
export function slotsOf(tool: JsonObject): FileSlot[] {
  return fileParamsOf(tool).flatMap((name) => {
    const { inputSchema } = tool;
    if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return [];
    const property = own(inputSchema.properties, name);
    const single = shapeOf(property, inputSchema);
    if (single?.type === 'array') {
      const item = shapeOf(single.items, inputSchema);
      return item ? [slot([name, '[]'], item)] : [];
    }
    return single ? [slot([name], single)] : [];
  });
}

/** What a tool lists in `_meta["openai/fileParams"]`. */
export function fileParamsOf({ _meta: meta }: JsonObject): string[] {
  const listed = isObject(meta) ? meta[META_KEY] : undefined;
  return Array.isArray(listed) ? listed.filter((name) => typeof name === 'string') : [];
}

function slot(path: string[], schema: JsonObject): FileSlot {
  const known = isObject(schema.properties) ? schema.properties : undefined;
  const members = MEMBERS.filter(([member]) => !known || member === 'download_url' || Object.hasOwn(known, member));
  const template = Object.fromEntries(members);
  return {
    path,
    declaredBy: NAME,
    deliveries: [{ kind: 'encoded', encoding: 'object', template }],
    companions: {},
  };
}

/** The object or array that a property is, through local references and unions with null. */
function shapeOf(schema: JsonValue | undefined, root: JsonObject, refs = 0): JsonObject | undefined {
  if (!isObject(schema) || refs > MAX_REFS) return undefined;
  if (typeof schema.$ref === 'string') return shapeOf(pointed(root, schema.$ref), root, refs + 1);
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) {
    for (const branch of union) {
      const found = shapeOf(branch, root, refs + 1);
      if (found) return found;
    }
    return undefined;
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.find((one) => one === 'object' || one === 'array');
  return type === undefined ? undefined : { ...schema, type };
}

function pointed(root: JsonObject, reference: string): JsonValue | undefined {
  const keys = reference.startsWith('#/') ? reference.slice(2).split('/') : [];
  return keys.reduce<JsonValue | undefined>(
    (value, token) => (isObject(value) ? own(value, token.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined),
    root,
  );
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
