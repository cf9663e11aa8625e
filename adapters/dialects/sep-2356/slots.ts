import { isObject, own } from '../../../gateway/json/value.js';
import type { DeclaredFile, JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { Delivery, FileSlot } from '../../../gateway/ports/file-slot.js';
import { EACH, PathKeys } from '../../../gateway/schema/argument-path.js';
import { type Budget, budgetOfTool } from '../../../gateway/schema/budget.js';
import { eachArgument } from '../../../gateway/schema/walk.js';
import { type Shape, shapeOf } from '../common/text-shape.js';
import { takesInline } from '../common/transfer-modes.js';
import { type Descriptor, KEYWORDS, readDescriptor } from './keyword.js';
import { SIDECAR, sidecarEntries } from './sidecar.js';

const DATA_URI: Delivery = { kind: 'encoded', encoding: 'dataUri' };
const NAMED_DATA_URI: Delivery = { kind: 'encoded', encoding: 'dataUriNamed' };

/**
 * The file arguments that a tool declares: by the keyword in its own schema (since 2026-03-26), or in `inputFiles`
 * beside it (before). A keyword without `format: "uri"` counts too, because real servers omit that.
 */
export function slotsOf(tool: JsonObject): FileSlot[] {
  const slots = declaredSlots(tool.inputSchema);
  const keys = new PathKeys();
  const taken = new Set(slots.map(({ path }) => keys.of(path)));
  for (const { name, shape, descriptor } of sidecarEntries(tool)) {
    const slot = fileSlot([name], shape, descriptor);
    if (!taken.has(keys.of(slot.path))) slots.push({ ...slot, deliveries: [NAMED_DATA_URI] });
  }
  return slots;
}

function declaredSlots(inputSchema: JsonValue | undefined): FileSlot[] {
  const slots: FileSlot[] = [];
  const budget = budgetOfTool();
  // for all arguments together: a thousand of them may name one sibling
  const ofSiblings = budgetOfTool();
  eachArgument(
    inputSchema,
    ({ schema, path, siblings }) => {
      const descriptor = descriptorIn(schema);
      const shape = descriptor && shapeOf(schema, inputSchema, budget);
      if (!descriptor || !shape) return false;
      // a server that wants uploads only needs a dialect that uploads
      if (!takesInline(descriptor)) return true;
      const { filenameProperty: property } = descriptor;
      const name = property === undefined ? undefined : companionName(property, path, siblings, ofSiblings);
      slots.push({ ...fileSlot(path, shape, descriptor, name), deliveries: [DATA_URI] });
      return true;
    },
    { budget },
  );
  return slots;
}

/** The arguments with the keyword, whatever its content, and those that `inputFiles` names. */
export function declaredFiles(tool: JsonObject): DeclaredFile[] {
  const files: DeclaredFile[] = [];
  eachArgument(tool.inputSchema, ({ schema, path }) => {
    const by = KEYWORDS.find((name) => Object.hasOwn(schema, name));
    if (by !== undefined) files.push({ path, by });
    return false;
  });
  const { [SIDECAR]: sidecar } = tool;
  const names = isObject(sidecar) ? Object.keys(sidecar) : [];
  return [...files, ...names.map((name) => ({ path: [name], by: SIDECAR }))];
}

function descriptorIn(node: JsonObject): Descriptor | undefined {
  const keyword = KEYWORDS.find((name) => Object.hasOwn(node, name));
  return keyword && readDescriptor(node[keyword]);
}

/** @param name the sibling that takes the file's name */
function fileSlot(
  path: readonly string[],
  shape: Shape,
  { accept, maxSize }: Descriptor,
  name?: string,
): Omit<FileSlot, 'deliveries'> {
  return {
    path: shape === 'strings' ? [...path, EACH] : path,
    declaredBy: 'sep-2356',
    companions: name === undefined ? {} : { name },
    ...(accept && { accept }),
    ...(maxSize !== undefined && { maxSize }),
  };
}

/** The sibling for the file names; for a list of files it is a list too. */
function companionName(
  property: string,
  path: readonly string[],
  siblings: JsonObject | undefined,
  budget: Budget,
): string | undefined {
  if (siblings === undefined || property === path.findLast((segment) => segment !== EACH)) return undefined;
  const shape = shapeOf(own(siblings, property), undefined, budget);
  return shape === 'strings' ? `${property}${EACH}` : shape && property;
}
