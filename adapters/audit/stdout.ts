import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import { type ChainEnd, newChain } from '../../gateway/audit/chain.js';
import { Journal, type Sink } from '../../gateway/audit/journal.js';
import type { AdapterDeps } from '../../gateway/config/adapter-list.js';
import type { Audit } from '../../gateway/ports/audit.js';
import { journalSettings } from './common/settings.js';

/** Standard output, for a collector of logs. Each process begins a chain of its own. */
export const settings = z.strictObject(journalSettings);

const STDOUT = 1;

export function create(
  journal: z.output<typeof settings>,
  { sharing, clock, log }: Pick<AdapterDeps, 'sharing' | 'clock' | 'log'>,
): Audit {
  return new Journal({ name: 'stdout', sink: streamSink(standardOutput()), settings: journal, sharing, clock, log });
}

/** Writes lines to a stream, and waits until it has taken them. */
export function streamSink(output: Writable): Sink {
  const end: ChainEnd = newChain();
  // each failed write tells its own error
  output.on('error', () => {});
  return {
    end,
    append: (lines) =>
      new Promise((resolve, reject) => {
        output.write(lines, (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {},
  };
}

/** Node writes to a pipe synchronously: a collector that reads slowly would stop everything else. */
function standardOutput(): Writable {
  const kind = fstatSync(STDOUT);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stdout;
  return new Socket({ fd: STDOUT, readable: false, writable: true });
}
