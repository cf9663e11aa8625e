import { fstatSync, write } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type ChainEnd, newChain } from '../../gateway/audit/chain.js';
import { Journal, type Sink } from '../../gateway/audit/journal.js';
import type { AdapterDeps } from '../../gateway/config/adapter-list.js';
import type { Audit } from '../../gateway/ports/audit.js';
import { journalSettings } from './common/settings.js';

/** Standard output, for a collector of logs. Each process begins a chain of its own. */
export const settings = z.strictObject(journalSettings);

const STDOUT = 1;

/** How long a disk that has taken a part of some lines has until the rest is tried again. */
const AGAIN_MS = 100;

const writeTo = promisify(write);

export function create(
  journal: z.output<typeof settings>,
  { sharing, clock, log }: Pick<AdapterDeps, 'sharing' | 'clock' | 'log'>,
): Audit {
  const isFile = fstatSync(STDOUT).isFile();
  const sink = isFile ? fileSink(STDOUT) : streamSink(standardOutput());
  return new Journal({ name: 'stdout', sink, settings: journal, sharing, clock, log });
}

/** Writes lines to a stream, and waits until it has taken them. */
export function streamSink(output: Writable): Sink {
  const end: ChainEnd = newChain();
  // each failed write tells why, and those after it only that the stream has ended
  output.on('error', () => {});
  return {
    end,
    append: (lines) =>
      new Promise((resolve, reject) => {
        output.write(lines, (error) => (error ? reject(output.errored ?? error) : resolve()));
      }),
    close: async () => {},
  };
}

/**
 * Writes lines to a file that others may write too, so that nothing in it can be taken back. Of a full disk Node's own
 * stream does not notice that it has taken only a part.
 */
export function fileSink(descriptor: number): Sink {
  const end: ChainEnd = newChain();
  let hindrance: unknown;
  return {
    end,
    get hindrance() {
      return hindrance;
    },
    append: async (lines) => {
      for (let at = 0; at < lines.length; ) {
        try {
          at += (await writeTo(descriptor, lines, at)).bytesWritten;
          hindrance = undefined;
        } catch (error) {
          if (at === 0) throw error;
          hindrance = error;
          // half a line would end the chain, so this waits until the rest fits
          await pause(AGAIN_MS);
        }
      }
    },
    close: async () => {},
  };
}

/** Node writes to a pipe synchronously: a collector that reads slowly would stop everything else. */
function standardOutput(): Writable {
  const kind = fstatSync(STDOUT);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stdout;
  return new Socket({ fd: STDOUT, readable: false, writable: true });
}
