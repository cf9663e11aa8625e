import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { own } from '../common/json.js';
import { type Budget, eachArgument, newBudget } from '../common/schema.js';
import { type Descriptor, KEYWORDS, readDescriptor } from './keyword.js';
import { type Shape, shapeOf } from './schema.js';
import { sidecarEntries } from './sidecar.js';

/**
 * The file arguments that a tool declares: by the keyword, in its own schema (since 2026-03-26), or in `inputFiles`
 * beside it (before). A keyword without `format: "uri"` counts, for real servers leave that out.
 */
export function slotsOf(tool: JsonObject): FileSlot[] {
  const slots = declaredSlots(tool.inputSchema);
  const taken = new Set(slots.map(({ path }) => path.join('.')));
  for (const { name, shape, descriptor } of sidecarEntries(tool)) {
    const slot = fileSlot([name], shape, descriptor, 'dataUriNamed');
    if (!taken.has(slot.path.join('.'))) slots.push(slot);
  }
  return slots;
}

function declaredSlots(inputSchema: JsonValue | undefined): FileSlot[] {
  const slots: FileSlot[] = [];
  const budget = newBudget();
  // of all of them together: a thousand arguments may name the same sibling
  const ofSiblings = newBudget();
  eachArgument(
    inputSchema,
    ({ schema, path, siblings }) => {
      const descriptor = descriptorIn(schema);
      const shape = descriptor && shapeOf(schema, inputSchema, budget);
      if (!descriptor || !shape) return false;
      if (takesInline(descriptor)) slots.push(fileSlot(path, shape, descriptor, 'dataUri', siblings, ofSiblings));
      return true;
    },
    budget,
  );
  return slots;
}

function descriptorIn(node: JsonObject): Descriptor | undefined {
  const keyword = KEYWORDS.find((name) => Object.hasOwn(node, name));
  return keyword && readDescriptor(node[keyword]);
}

/** A server that wants uploads only can be served by a dialect that uploads. */
function takesInline({ transferModes }: Descriptor): boolean {
  return transferModes === undefined || transferModes.includes('inline');
}

function fileSlot(
  path: readonly string[],
  shape: Shape,
  { accept, maxSize, filenameProperty }: Descriptor,
  encoding: 'dataUri' | 'dataUriNamed',
  siblings?: JsonObject,
  budget = newBudget(),
): FileSlot {
  const name = filenameProperty === undefined ? undefined : companionName(filenameProperty, path, siblings, budget);
  return {
    path: shape === 'strings' ? [...path, '[]'] : path,
    declaredBy: 'sep-2356',
    deliveries: [{ kind: 'encoded', encoding }],
    companions: name === undefined ? {} : { name },
    ...(accept && { accept }),
    ...(maxSize !== undefined && { maxSize }),
  };
}

/** The sibling that takes the names; a list of files has a list of them. */
function companionName(
  property: string,
  path: readonly string[],
  siblings: JsonObject | undefined,
  budget: Budget,
): string | undefined {
  if (siblings === undefined || property === path.findLast((segment) => segment !== '[]')) return undefined;
  const shape = shapeOf(own(siblings, property), undefined, budget);
  return shape === 'strings' ? `${property}[]` : shape && property;
}
