/**
 * Writes text for people to standard output and standard error. `| head` closes the pipe early: the rest is not wanted,
 * and that is not a failure of the command, least of all of a running gateway. A full disk is told in one line. Names and
 * texts of peers reach a terminal without what it would obey.
 */
import { inSight } from './in-sight.js';

/** The reader, or the terminal, has gone. */
const GONE = new Set(['EPIPE', 'EIO']);

const watched = new Set<NodeJS.WriteStream>();

/** Writes to standard output. */
export function print(text: string): void {
  write(process.stdout, text);
}

/** Writes to standard error. */
export function printError(text: string): void {
  write(process.stderr, text);
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text === '') return;
  if (!watched.has(stream)) {
    watched.add(stream);
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (GONE.has(error.code ?? '')) return;
      // a full disk: a command has failed, and a running gateway goes on
      process.exitCode = 1;
      if (stream === process.stdout) printError(`The output cannot be written: ${error.message}\n`);
    });
  }
  stream.write(inSight(text));
}
