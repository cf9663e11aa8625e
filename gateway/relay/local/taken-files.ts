import { nearestFirst } from '../../config/mistakes/nearest.js';
import type { SizeBy } from '../../files/tickets/upload-intent.js';
import type { Accepting } from '../../policy/message-limits.js';
import type { FileSlot } from '../../ports/file-slot.js';
import { argumentOf, joinPath } from '../../schema/argument-path.js';

/** A file slot of a known tool. */
export interface TakingSlot {
  tool: string;
  slot: FileSlot;
  /** Largest file that it takes, all limits considered, and what limits it. */
  maxSize: number;
  maxSizeBy: SizeBy;
  /** What limits its types. */
  acceptBy?: Accepting['acceptBy'];
}

/** Limits of an upload within which some tool takes the file. */
interface TakenFiles extends Accepting {
  maxSize: number;
  maxSizeBy: SizeBy;
  /** For a single tool: its name, and its argument if it has only one. */
  purpose?: { tool: string; argument?: string };
}

/**
 * The largest file that any of a server's tools takes; for a named tool, its own size and types.
 * @param wanted name of a tool
 * @returns undefined when that tool takes no uploads
 */
export function takenFiles(
  slots: readonly TakingSlot[],
  wanted: string | undefined,
  fileLimit: number,
): TakenFiles | undefined {
  const open = slots.filter(takesUploads);
  const meant = wanted === undefined ? open : open.filter(({ tool }) => tool === wanted);
  const [first, ...others] = meant;
  if (!first) return wanted === undefined ? { maxSize: fileLimit, maxSizeBy: { limit: 'limits.file' } } : undefined;
  const { maxSize, maxSizeBy } = meant.reduce((most, one) => (one.maxSize > most.maxSize ? one : most));
  if (wanted === undefined) return { maxSize, maxSizeBy };
  const argument = others.length === 0 ? { argument: joinPath(argumentOf(first.slot.path)) } : {};
  const types = meant.map(({ slot }) => slot.accept);
  // a type that none of its arguments takes is refused by a list of each
  const accepting: Accepting = types.every((list) => list !== undefined)
    ? { accept: [...new Set(types.flat())], acceptBy: meant.flatMap(({ acceptBy = [] }) => acceptBy) }
    : {};
  return { maxSize, maxSizeBy, ...accepting, purpose: { tool: wanted, ...argument } };
}

/** Tools that an error names: a model pays for each name, and a server may have hundreds. */
const MOST_NAMED = 10;

/** The tools that take uploads, for a caller who has named another: of many, those whose names are nearest to that. */
export function takingTools(slots: readonly TakingSlot[], wanted: string): string {
  const tools = [...new Set(slots.filter(takesUploads).map(({ tool }) => tool))].sort();
  if (tools.length <= MOST_NAMED) return tools.join(', ') || 'none';
  const near = nearestFirst(wanted, tools, MOST_NAMED);
  return `${near.join(', ')}, and ${tools.length - near.length} more`;
}

function takesUploads({ slot: { transferModes } }: TakingSlot): boolean {
  return transferModes?.includes('upload') ?? true;
}
