import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Previewer, PreviewerDeps, PreviewLimits, PreviewSource } from '../../gateway/ports/previewer.js';
import { kindOf, needsAll } from './local/kinds.js';
import { RenderPool } from './local/pool.js';
import { RenderProcess } from './local/process.js';

/**
 * Previews by separate processes on this machine. sharp (libvips) decodes PNG, JPEG, GIF, WebP, AVIF and TIFF; PDFium, if
 * it is installed, draws the first page of a PDF. Of a text the first lines are read, of an archive the names in it, of
 * sound and video the header.
 */
export const settings = z
  .strictObject({
    processes: z
      .int()
      .min(1)
      .max(16)
      .optional()
      .describe('Most render processes at a time. Unset: 2, or 1 where Wharf has one core.'),
    queue: z
      .int()
      .min(0)
      .max(1000)
      .default(16)
      .describe(
        'Most files that wait for a process; further ones get no preview. Callers take turns. When the queue is full, the callers with the most files lose theirs.',
      ),
    deadlineSeconds: z
      .int()
      .min(1)
      .max(60)
      .default(10)
      .describe(
        'Seconds that a file may wait for a process; the same number again for rendering. Where all processes render for one caller, or one server, and another waits, the one that has run longest is given up after 3 seconds.',
      ),
    maxMemoryMiB: z
      .int()
      .min(128)
      .max(4096)
      .default(256)
      .describe('Resident memory (MiB) of a render process; a file that needs more gets no preview.'),
    maxSourceMiB: z
      .int()
      .min(1)
      .max(100)
      .default(32)
      .describe(
        'Largest image or PDF (MiB) that gets a preview. The render process holds all of it; of other files it reads a part.',
      ),
  })
  .meta({ examples: [{ processes: 4, maxSourceMiB: 16 }] });

const MIB = 1024 * 1024;
/** Starting a process takes about 0.2 s, and it uses 70 MiB, so it stays for the next image, but not for long. */
const IDLE_MS = 30_000;
/** A new process takes 0.2 s of processor time, of a thousand photos 0.3 %. */
const PROCESSOR_SECONDS = 60;
/** Threads of a process that work at the same time: V8's, libvips' and two of the pool. */
const THREADS = 4;
/** Photos and pages take less than a second, and the largest pictures 2. */
const PATIENCE_MS = 3_000;
/**
 * While Wharf passes pictures on, one process leaves part of two cores unused: previews take three times as long as all else
 * that is done with a picture. More than two would leave little to exchanges.
 */
const USUAL_PROCESSES = Math.min(2, availableParallelism());
/** Two grey pixels: a renderer that can render this works. */
const PROBE = Buffer.from('R0lGODdhAgABAIAAAAAAAP///ywAAAAAAgABAAACAgQKADs=', 'base64');
const PROBE_SOURCE: PreviewSource = {
  mimeType: 'image/gif',
  size: PROBE.length,
  open: async () => Readable.from([PROBE]),
};
const PROBE_LIMITS: PreviewLimits = { maxEdge: 16, maxEncodedBytes: 10_000, maxPixels: 100, maxText: 0, maxLines: 0 };

/**
 * Only the render process loads sharp itself: a decoder that crashes, hangs or uses much memory then harms no exchange.
 */
export function create(config: z.output<typeof settings>, { log, inheritedEnv }: PreviewerDeps): Previewer {
  const deadline = config.deadlineSeconds * 1000;
  const pool = new RenderPool({
    processes: config.processes ?? USUAL_PROCESSES,
    queue: config.queue,
    maxWait: deadline,
    patience: PATIENCE_MS,
    idle: IDLE_MS,
    start: () =>
      new RenderProcess({
        maxMemory: config.maxMemoryMiB * MIB,
        maxSource: config.maxSourceMiB * MIB,
        deadline,
        processorTime: { most: PROCESSOR_SECONDS, end: PROCESSOR_SECONDS + THREADS * config.deadlineSeconds },
        inheritedEnv,
        log,
      }),
  });
  /** Readiness is checked every few seconds; a probe each time would keep a process alive for nothing. */
  let works = false;

  const render: Previewer['render'] = async (source, limits, signal, owner) => {
    if (kindOf(source.mimeType) === undefined) return { kind: 'refused', reason: 'unsupported' };
    const result = await pool.run((process, until) => process.render(source, limits, until), signal, owner);
    if (result.kind === 'rendered') works = true;
    else if (result.reason === 'failed') works = false;
    return result;
  };

  return {
    name: 'local',
    takes: (mimeType) => kindOf(mimeType) !== undefined,
    wholeUpTo: (mimeType) => {
      const kind = kindOf(mimeType);
      return kind !== undefined && needsAll(kind) ? config.maxSourceMiB * MIB : 0;
    },
    render,
    async check() {
      if (works) return;
      const result = await render(PROBE_SOURCE, PROBE_LIMITS, AbortSignal.timeout(deadline));
      // A renderer too busy for a probe is not broken.
      if (result.kind === 'refused' && result.reason !== 'busy') {
        throw new Error(
          `The render process cannot render a test image (${result.reason}); is sharp installed for this platform?`,
        );
      }
    },
    close: () => pool.close(),
  };
}
