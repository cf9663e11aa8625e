import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { isObject, own } from '../common/json.js';
import { branchesOf, mayLook, newBudget, pointed } from '../common/schema.js';
import { META_KEY, NAME } from './file-param.js';

/** What stands in each member: a link that the server fetches, and what is known of the file. */
const MEMBERS: readonly (readonly [string, string])[] = [
  ['download_url', '$url'],
  ['file_id', '$handle'],
  ['mime_type', '$mime'],
  ['file_name', '$name'],
];

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
function shapeOf(
  schema: JsonValue | undefined,
  root: JsonObject,
  budget = newBudget(),
  depth = 0,
): JsonObject | undefined {
  if (!mayLook(budget, depth) || !isObject(schema)) return undefined;
  if (typeof schema.$ref === 'string') return shapeOf(pointed(root, schema.$ref), root, budget, depth + 1);
  for (const branch of branchesOf(schema)) {
    const found = shapeOf(branch, root, budget, depth + 1);
    if (found) return found;
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.find((one) => one === 'object' || one === 'array');
  return type === undefined ? undefined : { ...schema, type };
}
