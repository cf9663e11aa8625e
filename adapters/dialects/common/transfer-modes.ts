import type { JsonValue } from '../../../gateway/ports/dialect.js';
import type { TransferMode } from '../../../gateway/ports/file-slot.js';

/**
 * The modes that a declaration names in `transferModes`, the member that SEP-2631 brought and SEP-2356 took up; undefined where
 * it names none, which means any. Unknown modes are of the future, and ignored: a list of them alone leaves none.
 */
export function modesIn(listed: readonly JsonValue[] = []): readonly TransferMode[] | undefined {
  if (listed.length === 0) return undefined;
  return listed.filter((mode): mode is TransferMode => mode === 'inline' || mode === 'upload');
}

/** Whether a file may be in the message itself; the other mode is an upload. */
export function takesInline({ transferModes }: { readonly transferModes?: readonly JsonValue[] | undefined }): boolean {
  return transferModes === undefined || transferModes.includes('inline');
}
