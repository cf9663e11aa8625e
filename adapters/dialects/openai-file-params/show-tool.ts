import { isObject } from '../../../gateway/json/value.js';
import { mostText } from '../../../gateway/policy/amounts.js';
import { sentence } from '../../../gateway/policy/file-words.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonPatch, ShownSlot } from '../../../gateway/ports/dialect.js';
import { fileParamsOf } from './declared.js';
import { FILE_PARAM, isSpokenBy, META_KEY, NAME } from './file-param.js';

/**
 * Shows OpenAI's clients file arguments as the objects that their hosts fill. For other clients it removes a server's
 * own list of such arguments, which are texts for them.
 */
export function showTool(tool: JsonObject, slots: readonly ShownSlot[], client: ClientFacts): JsonPatch[] {
  if (!isSpokenBy(client)) return withoutDeclaration(tool, slots);
  const properties = isObject(tool.inputSchema) ? tool.inputSchema.properties : undefined;
  if (!isObject(properties)) return [];
  const patches: JsonPatch[] = [];
  const names: string[] = [];
  for (const shown of slots) {
    const { name, slot } = shown;
    // in the items of an array, or there on a condition: it stays a text that takes a handle
    if (name === undefined || !Object.hasOwn(properties, name)) continue;
    const old = properties[name];
    const value = slot.path.at(-1) === '[]' ? arraySchema(shown, isObject(old) ? old : {}) : objectSchema(shown);
    patches.push({ path: ['inputSchema', 'properties', name], value });
    names.push(name);
  }
  if (names.length > 0) patches.push(listed(tool, [...new Set([...fileParamsOf(tool), ...names])]));
  return patches;
}

function withoutDeclaration(tool: JsonObject, slots: readonly ShownSlot[]): JsonPatch[] {
  const texts = new Set(slots.filter(({ slot }) => slot.declaredBy === NAME).map(({ slot }) => slot.path[0]));
  if (texts.size === 0) return [];
  const left = fileParamsOf(tool).filter((name) => !texts.has(name));
  return [listed(tool, left.length > 0 ? left : undefined)];
}

function listed(tool: JsonObject, names: string[] | undefined): JsonPatch {
  const { _meta: meta } = tool;
  if (meta === undefined || isObject(meta)) return { path: ['_meta', META_KEY], value: names };
  return { path: ['_meta'], value: names && { [META_KEY]: names } };
}

function objectSchema({ declared, slot, maxSize }: ShownSlot): JsonObject {
  const kinds = slot.accept === undefined ? '' : ` of type ${slot.accept.join(', ')}`;
  const texts = [declared.description, slot.purpose].filter((text) => typeof text === 'string' && text.trim() !== '');
  const said = texts.map((text) => sentence(String(text)));
  return { ...FILE_PARAM, description: [...said, `A file${kinds}, at most ${mostText(maxSize)}.`].join(' ') };
}

function arraySchema(shown: ShownSlot, { description, minItems, maxItems }: JsonObject): JsonObject {
  return {
    type: 'array',
    items: objectSchema(shown),
    ...(typeof description === 'string' && { description }),
    ...(typeof minItems === 'number' && { minItems }),
    ...(typeof maxItems === 'number' && { maxItems }),
  };
}
