import { patchValue } from '../../json/patch.js';
import { isObject, valueAt } from '../../json/value.js';
import { acceptedWithin, type ExchangeLimits } from '../../policy/message-limits.js';
import type { Dialect, FileFacts, ShownSlot } from '../../ports/dialect.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPatch, JsonPath } from '../../ports/json.js';
import { argumentOf, isEach } from '../../schema/argument-path.js';
import { opened } from '../../schema/open-place.js';
import { placeOf } from '../../schema/place.js';
import { publishedSchema } from '../../schema/published.js';
import { isSpecial } from '../../schema/segments.js';
import type { Tool, ToolSlot } from '../../tools/tool.js';
import { addAll } from '../../wire/add-all.js';
import type { UnknownMethods } from '../upstream/unknown-methods.js';
import { liftSlot } from './lifted-arguments.js';
import { maxSizeOf } from './max-size.js';
import type { Reader } from './reader.js';

/** The limits that are shown to clients. */
export type ShownLimits = Pick<ExchangeLimits, 'file' | 'inlineArgument' | 'filesPerArgument' | 'accept'>;

/** The server of a tool, and the limits for its files. */
export interface ShowContext {
  server: string;
  limits: ShownLimits;
  accepts: number;
  dialects: readonly Dialect[];
  /** Name of Wharf's tool that issues upload links, if there is one. */
  uploadTool: string | undefined;
  /** Methods that the server is known to lack. */
  unknownMethods: Pick<UnknownMethods, 'lacks'>;
}

/** Takes a file's place where only the upload methods matter. */
const NO_FILE: FileFacts = { name: '', mimeType: '', size: 0, digest: '' };

const UNUSABLE = 'The server wants this file uploaded and takes no uploads: a call with it fails.';

/** A slot with its place in the edited tool. Its schema may still change. */
type PlacedSlot = Omit<ShownSlot, 'schema'>;

/**
 * The edits of a tool for a client: file arguments take handles, and results that become links are no longer declared as
 * base64. Paths are below the tool.
 */
export function show({ declared, facts }: Tool, reader: Reader, context: ShowContext): readonly JsonPatch[] {
  const edited = new EditedTool(declared);
  const { outputSchema } = declared;
  const published = isObject(outputSchema) ? publishedSchema(outputSchema) : outputSchema;
  if (published !== outputSchema && !reader.hidesOutput) edited.change([{ path: ['outputSchema'], value: published }]);
  if (reader.hidesOutput && outputSchema !== undefined) edited.change([{ path: ['outputSchema'], value: undefined }]);
  const placed: PlacedSlot[] = [];
  for (const slot of facts.slots) {
    const at = reader.passes.has(slot.declaredBy) ? undefined : place(edited, slot, reader);
    if (at) placed.push(placedSlot(slot, at, reader, context));
  }
  for (const dialect of context.dialects.toReversed()) {
    const shown = placed.map((slot) => ({ ...slot, schema: edited.schemaAt(slot.at) }));
    edited.change(dialect.showTool?.(edited.now, shown, reader.client) ?? []);
  }
  for (const { slot, at } of placed) {
    if (!isUnusable(slot, context)) continue;
    const { description } = edited.schemaAt(at);
    const value = typeof description === 'string' ? `${UNUSABLE} ${description}` : UNUSABLE;
    edited.change([{ path: [...at, 'description'], value }]);
  }
  return edited.patches;
}

/** A tool and its edits so far. */
class EditedTool {
  readonly patches: JsonPatch[] = [];
  now: JsonObject;

  constructor(tool: JsonObject) {
    this.now = tool;
  }

  change(patches: readonly JsonPatch[]): void {
    this.now = patchValue(this.now, patches);
    addAll(this.patches, patches);
  }

  schemaAt(at: JsonPath): JsonObject {
    const found = valueAt(this.now, at);
    return isObject(found) ? found : {};
  }
}

/** Gives a slot a schema of its own, which may be edited. @returns its path, and the server's declaration */
function place(edited: EditedTool, { path, lifted, declaredBy }: ToolSlot, { lifts }: Reader) {
  const isNamed = lifts && lifted !== undefined;
  const declared = placeOf(edited.now, path);
  // the operator knows of it, and the server's schema may only leave it open
  if (!declared && declaredBy === 'config') edited.change(opened(edited.now, path));
  const inPlace = declared ?? placeOf(edited.now, path);
  // its other form has taken it there
  const found =
    inPlace ?? (isNamed ? placeOf(edited.now, [lifted, ...path.slice(argumentOf(path).length)]) : undefined);
  if (!found) return undefined;
  edited.change(found.copies);
  const { at, schema } = found;
  if (!isNamed || !inPlace) return { at, declared: schema };
  const lifting = liftSlot(edited.now, lifted, at);
  edited.change(lifting.patches);
  return { at: lifting.at, declared: schema };
}

function placedSlot(
  slot: ToolSlot,
  at: Pick<PlacedSlot, 'at' | 'declared'>,
  { lifts }: Reader,
  { server, limits, accepts, uploadTool }: ShowContext,
): PlacedSlot {
  const name = (lifts ? slot.lifted : undefined) ?? topLevelName(slot);
  const maxSize = maxSizeOf(slot, { limits, accepts, owner: { server } }).bytes;
  const { accept } = acceptedWithin(slot.accept, limits.accept);
  return {
    slot: accept ? { ...slot, accept } : slot,
    ...at,
    ...(name !== undefined && { name }),
    maxSize,
    maxInline: Math.min(maxSize, limits.inlineArgument),
    ...(isEach(slot.path) && { maxItems: slot.maxItems ?? limits.filesPerArgument }),
    ...(isEach(slot.path) && slot.maxItems === undefined && { lacksMaxItems: true }),
    ...(uploadTool && { uploadTool }),
  };
}

/** True when no delivery is left: the server wants an upload and has no method for it. */
export function isUnusable(
  { deliveries }: FileSlot,
  { dialects, unknownMethods }: Pick<ShowContext, 'dialects' | 'unknownMethods'>,
): boolean {
  return deliveries.every((delivery) => {
    if (delivery.kind !== 'uploaded') return false;
    const transfer = dialects.find(({ name }) => name === delivery.dialect)?.transfer;
    return transfer !== undefined && unknownMethods.lacks(transfer.uploadRequests(NO_FILE, delivery.revision));
  });
}

function topLevelName({ path }: FileSlot): string | undefined {
  const [name, ...below] = argumentOf(path);
  return name !== undefined && below.length === 0 && !isSpecial(name) ? name : undefined;
}
