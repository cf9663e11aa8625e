import { z } from 'zod';
import type { Antivirus, Scan } from '../../gateway/ports/antivirus.js';
import { ClamdConnection, ClamdScan, unavailable } from './clamd/connection.js';
import { prove } from './clamd/proof.js';
import { ClamdVersion } from './clamd/version.js';

const MIB = 1024 * 1024;

/** How long a failed proof is believed: each scan would begin another one. */
const DOUBT_MS = 1000;

/** ClamAV's daemon, over TCP. It takes whole files and keeps none. */
export const settings = z
  .strictObject({
    host: z.string().min(1).max(255).default('127.0.0.1').describe('Where clamd listens (`TCPAddr`).'),
    port: z.int().min(1).max(65_535).default(3310).describe('`TCPSocket` of clamd.'),
    maxSizeMiB: z
      .int()
      .min(1)
      .max(4000)
      .default(25)
      .describe(
        'The largest file (MiB) that clamd scans: its `StreamMaxLength`, `MaxFileSize` and `MaxScanSize` must be as ' +
          'large. Wharf tries a file of this size before it trusts clamd: by default clamd calls what is larger than it scans clean.',
      ),
    larger: z
      .enum(['refuse', 'pass'])
      .default('refuse')
      .describe(
        'What becomes of a larger file, and of one with more in it than clamd unpacks: `refuse` it, or `pass` it ' +
          'unscanned; its record and `wharf_scans_total{outcome="passed"}` then say so.',
      ),
    scans: z
      .int()
      .min(1)
      .max(1000)
      .default(8)
      .describe(
        'Most files scanned at one time, over all callers. Less than `MaxThreads` of clamd (10), which others may use too.',
      ),
    queue: z
      .int()
      .min(1)
      .max(100_000)
      .default(1000)
      .describe('Most files that wait for their turn; each waits for at most `timeouts.queue` without movement.'),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(600)
      .default(120)
      .describe(
        'Seconds that clamd may be silent; the default is its own `MaxScanTime`. A file without a verdict is refused.',
      ),
  })
  .meta({ examples: [{ host: 'clamav', maxSizeMiB: 100 }] });

/** A proof may take as long as clamd may be silent. A caller that leaves meanwhile gives up its place. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

export function create(config: z.output<typeof settings>): Antivirus {
  const address = { host: config.host, port: config.port, timeout: config.timeoutSeconds * 1000 };
  const maxSize = config.maxSizeMiB * MIB;
  const closing = new AbortController();
  const asked = new ClamdVersion(address, closing.signal);
  let proof: Promise<void> | undefined;

  const open = async (signal: AbortSignal): Promise<Scan> =>
    new ClamdScan(await ClamdConnection.open('INSTREAM', address, signal));

  /** Once for each time that clamd has been away: another one, with other settings, may have come back. */
  const proven = (): Promise<void> => {
    if (proof) return proof;
    void asked.refresh();
    const begun = prove(() => open(closing.signal), maxSize);
    proof = begun;
    begun.catch(() => {
      setTimeout(() => forget(begun), DOUBT_MS).unref();
    });
    return begun;
  };
  const forget = (one: Promise<void> | undefined): void => {
    if (proof !== one) return;
    proof = undefined;
    asked.forget();
  };

  return {
    name: 'clamd',
    scanner: {
      maxSize,
      larger: config.larger,
      scans: config.scans,
      queue: config.queue,
      database: () => asked.said,
      async begin(signal) {
        const known = proven();
        await unlessAborted(known, signal);
        void asked.refresh();
        try {
          return await open(signal);
        } catch (error) {
          if (!signal.aborted) forget(known);
          throw error;
        }
      },
      async check() {
        const known = proven();
        await known;
        try {
          const connection = await ClamdConnection.open('PING', address, closing.signal);
          try {
            if ((await connection.reply()) !== 'PONG') throw unavailable('its reply to PING is not PONG');
          } finally {
            connection.close();
          }
        } catch (error) {
          forget(known);
          throw error;
        }
      },
    },
    close: async () => closing.abort(),
  };
}
