import { isObject, own } from '../json/value.js';
import { type ParamHeader, paramHeadersOf } from '../mcp/param-headers.js';
import type { Dialect } from '../ports/dialect.js';
import type { FileSlot, ToolSettings } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import { argumentOf, EACH, isEach, PathKeys } from '../schema/argument-path.js';
import { type ItemCounts, itemCountsOf, typesOf } from '../schema/place.js';
import { sizeIsText, withNameCompanions } from './companions.js';
import { withLiftedNames } from './lifted-names.js';
import { takesOtherText } from './other-text.js';
import { type Required, requiredOf } from './required.js';
import { slotsOf } from './slots.js';

/** A file slot, with facts from its tool's schema. */
export interface ToolSlot extends FileSlot, ItemCounts {
  /** For a nested slot: its name for clients that look only at a tool's top-level arguments. */
  readonly lifted?: string;
  /** A call must fill it. */
  readonly required?: Required;
  /** The JSON types that the tool's schema allows there; if absent, any. */
  readonly types?: ReadonlySet<string>;
  /** The tool takes a list of files in place of the one, which is a slot of its own. */
  readonly hasListForm?: true;
  /** For each item of a list: the tool takes one file in place of the list, which is a slot of its own. */
  readonly hasSingleForm?: true;
  /** The tool also takes another text there. */
  readonly takesText?: true;
  /** The tool takes the size as text. */
  readonly sizeIsText?: boolean;
}

/** What is kept about a tool. */
export interface ToolFacts {
  outputSchema?: JsonObject;
  /** The tool has an outputSchema that is too large to be kept, or may have one: it is too large to be parsed. */
  hasUnkeptSchema?: true;
  paramHeaders: readonly ParamHeader[];
  /** Its file slots. */
  slots: readonly ToolSlot[];
  /** Characters of text that its results may have in hosts that let a tool say so. */
  longestText?: number;
  /** Code calls it, and no model: a page of its server's that the client's host shows. */
  isForPages?: true;
}

/** Where a tool says so. */
const LONGEST_TEXT_META_KEY = 'anthropic/maxResultSizeChars';

/** A tool of a server's list: its declaration, read once. */
export interface Tool {
  name: string | undefined;
  declared: JsonObject;
  /** It is too large to be parsed: only its name is known. */
  isHeavy: boolean;
  facts: ToolFacts;
}

/** What decides about a tool's file slots besides its own declaration. */
interface ToolReading {
  /** The operator's settings by tool name. */
  settings: Readonly<Record<string, ToolSettings>>;
  dialects: readonly Dialect[];
}

/** Combines a tool's own declaration with the operator's settings. @param isHeavy only its name is known */
export function readTool(declared: JsonObject, { settings, dialects }: ToolReading, isHeavy = false): Tool {
  const name = typeof declared.name === 'string' ? declared.name : undefined;
  const slots = slotsOf(declared, name === undefined ? undefined : own(settings, name), dialects);
  const keys = new PathKeys();
  const paths = new Set(slots.map(({ path }) => keys.of(path)));
  const facts = {
    paramHeaders: paramHeadersOf(declared.inputSchema),
    slots: withLiftedNames(declared, withNameCompanions(declared, slots)).map((slot) => ({
      ...withOwnWords(declared, slot),
      ...(slot.declaredBy !== 'config' && takesOtherText(declared, slot, dialects) && { takesText: true as const }),
      ...(paths.has(keys.of([...slot.path, EACH])) && { hasListForm: true as const }),
      ...(isEach(slot.path) && paths.has(keys.of(argumentOf(slot.path))) && { hasSingleForm: true as const }),
    })),
    ...(isObject(declared.outputSchema) && { outputSchema: declared.outputSchema }),
    ...(isHeavy && { hasUnkeptSchema: true as const }),
    ...longestTextOf(declared),
    ...(dialects.some(({ pages }) => pages?.calls(declared)) && { isForPages: true as const }),
  };
  return { name, declared, isHeavy, facts };
}

function longestTextOf({ _meta }: JsonObject): Pick<ToolFacts, 'longestText'> {
  const most = isObject(_meta) ? own(_meta, LONGEST_TEXT_META_KEY) : undefined;
  return typeof most === 'number' && most > 0 ? { longestText: most } : {};
}

/** Adds the facts from the tool's schema to a slot. */
function withOwnWords(tool: JsonObject, slot: ToolSlot): ToolSlot {
  // for the server a configured argument was never a file, so its own schema decides about other values
  const types = slot.declaredBy === 'config' ? undefined : typesOf(tool, slot.path);
  const required = requiredOf(tool, slot.path);
  return {
    ...slot,
    ...itemCountsOf(tool, slot.path),
    ...(types && { types }),
    ...(required && { required }),
    ...(sizeIsText(tool, slot) && { sizeIsText: true }),
  };
}
