import type { FileSlot } from '../../ports/file-slot.js';
import { spell } from '../../schema/argument-path.js';

/** A place for a file in a tool that has been seen. */
export interface TakingSlot {
  tool: string;
  slot: FileSlot;
  /** The most bytes it takes, all limits considered. */
  maxSize: number;
}

/** What an upload may be, so that some tool takes it afterwards. */
export interface TakenFiles {
  maxSize: number;
  accept?: readonly string[];
  /** Of one tool: its name, and the argument where it has only one. */
  purpose?: { tool: string; argument?: string };
}

/**
 * The largest file that any of a server's tools takes; of one tool that is named, what this one takes, its types too.
 * @param wanted name of a tool
 * @returns undefined where that tool takes no uploads
 */
export function takenFiles(
  slots: readonly TakingSlot[],
  wanted: string | undefined,
  fileLimit: number,
): TakenFiles | undefined {
  const open = slots.filter(takesUploads);
  const meant = wanted === undefined ? open : open.filter(({ tool }) => tool === wanted);
  const [first, ...others] = meant;
  if (!first) return wanted === undefined ? { maxSize: fileLimit } : undefined;
  const maxSize = Math.max(...meant.map((one) => one.maxSize));
  if (wanted === undefined) return { maxSize };
  const argument = others.length === 0 ? { argument: spell(first.slot.path) } : {};
  const types = meant.map(({ slot }) => slot.accept);
  const accept = types.every((list) => list !== undefined) ? { accept: [...new Set(types.flat())] } : {};
  return { maxSize, ...accept, purpose: { tool: wanted, ...argument } };
}

/** Names of the tools that take uploads. */
export function takingTools(slots: readonly TakingSlot[]): string[] {
  return [...new Set(slots.filter(takesUploads).map(({ tool }) => tool))].sort();
}

function takesUploads({ slot: { transferModes } }: TakingSlot): boolean {
  return transferModes?.includes('upload') ?? true;
}
