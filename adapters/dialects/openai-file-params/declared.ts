import { isObject, own } from '../../../gateway/json/value.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { type Budget, budgetOfTool } from '../../../gateway/schema/budget.js';
import { alternatives } from '../../../gateway/schema/walk.js';
import { META_KEY, NAME } from './file-param.js';

/** The value of each member: a link that the server fetches, and facts about the file. */
const MEMBERS: readonly (readonly [string, string])[] = [
  ['download_url', '$url'],
  ['file_id', '$handle'],
  ['mime_type', '$mime'],
  ['file_name', '$name'],
];

/** The arguments that a server declares to take such objects. Names without an object property are ignored. */
export function slotsOf(tool: JsonObject): FileSlot[] {
  // for all names together: one argument may be named a thousand times
  const budget = budgetOfTool();
  return fileParamsOf(tool).flatMap((name) => {
    const { inputSchema } = tool;
    if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return [];
    const property = own(inputSchema.properties, name);
    const single = shapeOf(property, inputSchema, budget);
    if (single?.type === 'array') {
      const item = shapeOf(single.items, inputSchema, budget);
      return item ? [slot([name, '[]'], item)] : [];
    }
    return single ? [slot([name], single)] : [];
  });
}

/** The names in a tool's `_meta["openai/fileParams"]`. */
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

/** The object or array schema of a property, through local references and unions with null. */
function shapeOf(schema: JsonValue | undefined, root: JsonObject, budget: Budget): JsonObject | undefined {
  for (const one of alternatives(schema, root, budget)) {
    const types = Array.isArray(one?.type) ? one.type : [one?.type];
    const type = types.find((each) => each === 'object' || each === 'array');
    if (type !== undefined) return { ...one, type };
  }
  return undefined;
}
