import { rmSync } from 'node:fs';

const unfinished = new Set<string>();

function removeUnfinished(): void {
  for (const path of unfinished) {
    try {
      rmSync(path, { force: true });
    } catch {
      // the sweep removes what is left
    }
  }
}

/**
 * Files under way that mean nothing without this process: they are removed however it exits, except by SIGKILL. A second
 * signal ends it in the middle of an upload, and the sweep waits for a day.
 */
export const filesToRemoveAtExit = {
  add(path: string): void {
    if (unfinished.size === 0) process.on('exit', removeUnfinished);
    unfinished.add(path);
  },
  delete(path: string): void {
    if (unfinished.delete(path) && unfinished.size === 0) process.off('exit', removeUnfinished);
  },
};
