import { runInThisContext } from 'node:vm';

/** This process itself: what a suite sees as `process` is jest's copy of it, which hears of no event. */
const thisProcess = runInThisContext('process') as NodeJS.Process;

const ends = new Set<() => void>();
const endAll = () => {
  for (const end of ends) end();
};

/**
 * Has something done when this process ends, such as ending a child that a failing test has left behind.
 * @returns what takes that back
 */
export function atExit(end: () => void): () => void {
  if (ends.size === 0) thisProcess.once('exit', endAll);
  ends.add(end);
  return () => {
    ends.delete(end);
    if (ends.size === 0) thisProcess.removeListener('exit', endAll);
  };
}

/** What Node warns of while some work is done, but for what it calls an experiment. */
export async function warningsDuring(work: () => Promise<unknown>): Promise<Error[]> {
  const warnings: Error[] = [];
  const warned = (warning: Error) => {
    if (warning.name !== 'ExperimentalWarning') warnings.push(warning);
  };
  thisProcess.on('warning', warned);
  try {
    await work();
    // Node tells of them once the work of this turn is done
    await new Promise(setImmediate);
  } finally {
    thisProcess.removeListener('warning', warned);
  }
  return warnings;
}

/** Promises that were rejected, and that nothing awaited, while some work was done: each of them ends a process. */
export async function unhandledDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const rejected = (reason: unknown) => unhandled.push(reason);
  thisProcess.on('unhandledRejection', rejected);
  try {
    await work();
    // Node tells of them once the promises of this turn are settled
    await new Promise(setImmediate);
  } finally {
    thisProcess.removeListener('unhandledRejection', rejected);
  }
  return unhandled;
}
