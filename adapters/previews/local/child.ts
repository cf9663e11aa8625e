import { readFileSync, writeSync } from 'node:fs';
import sharp from 'sharp';
import { encodeFrame, FrameReader } from './frames.js';
import { Gathered } from './gathered.js';
import { harden } from './image/render.js';
import { needsAll } from './kinds.js';
import { preview } from './preview.js';
import type { Job, Outcome } from './protocol.js';
import { WantedRanges } from './wanted-ranges.js';

/**
 * The render process. Only here are untrusted files looked into, so this process bounds what a decoder can do: it has no
 * secrets in its environment, and it is killed when it is slow or grows.
 */

/**
 * Interval between two checks of memory while libvips works on its own threads, which fill about 2 MiB in this time.
 */
const WATCH_MS = 5;

/** Of the memory: after a photograph of 12 megapixels 0.5 to 0.6 stays, and a new process takes 0.2 s of processor time. */
const MOST_KEPT = 0.7;

/** Bytes outside V8's heap, dead or not, from which on all of it is collected: 3 of them are Wharf's own, 2 to 8 the source. */
const DEAD_BYTES = 32 * 1024 * 1024;

harden(sharp);

const source = new Gathered();
/** The file that the process has now, or waits for. */
let current: { job: Job; ranges: WantedRanges } | undefined;

const reader = new FrameReader();
process.stdin.on('data', (chunk: Buffer) => {
  for (const { kind, payload } of reader.push(chunk)) {
    if (kind === 'job') begin(JSON.parse(payload.toString()));
    else if (kind === 'data') source.add(payload);
    else if (kind === 'end') arrived();
    else if (kind === 'cancel') cancel();
  }
});
// The gateway has ended, or wants this process to end.
process.stdin.on('end', die);
// Ctrl-C reaches the whole process group. The gateway decides when this process ends.
process.on('SIGINT', () => {});
writeAll(encodeFrame('ready'));

function begin(job: Job): void {
  const ask = (want: object): void => writeAll(encodeFrame('want', Buffer.from(JSON.stringify(want))));
  current = { job, ranges: new WantedRanges(job.size, ask) };
  if (!needsAll(job.kind)) void work(current);
}

function arrived(): void {
  if (current === undefined || needsAll(current.job.kind)) {
    if (current === undefined) die();
    else void work(current);
    return;
  }
  const piece = Buffer.from(source.bytes);
  source.forget();
  current.ranges.arrived(piece);
}

function cancel(): void {
  const cancelled = current;
  current = undefined;
  source.forget();
  cancelled?.ranges.cancel();
}

async function work(file: { job: Job; ranges: WantedRanges }): Promise<void> {
  const { job, ranges } = file;
  const { maxMemory } = job;
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() < maxMemory) return;
    answer({ kind: 'refused', reason: 'memory', last: true, peakRss: peakRss() });
    die();
  }, WATCH_MS);
  const result = await preview(sharp, job, { bytes: source.bytes, ranges });
  clearInterval(watch);
  // cancelled: the gateway waits for no answer
  if (current !== file) return;
  current = undefined;
  source.forget();
  if (process.memoryUsage.rss() > maxMemory / 2) freeBuffers();
  // Memory that libvips or malloc keep would be missing for the next image; a new process costs less than a refused
  // preview.
  const isFull = process.memoryUsage.rss() > maxMemory * MOST_KEPT;
  const facts = { last: isFull || processorSeconds() > job.processorTime, peakRss: peakRss() };
  if (result.kind === 'refused') answer({ ...result, ...facts });
  else {
    const { image, ...rest } = result.preview;
    if (image === undefined) answer({ kind: 'rendered', ...rest, ...facts });
    else {
      const { data, ...about } = image;
      answer({ kind: 'rendered', ...rest, image: about, ...facts }, data);
    }
  }
  if (facts.last) die();
}

/**
 * On its own, V8 keeps dead buffers, which count as this process's memory. Its young generation, in which most of them are,
 * takes 1 ms to collect. All of its heap takes 18 ms of processor time, so that is left until there is something to gain:
 * collected after each picture it was 11 of a screenshot's 33 ms.
 */
function freeBuffers(): void {
  if (process.memoryUsage().external < DEAD_BYTES) globalThis.gc?.({ type: 'minor' });
  else globalThis.gc?.();
}

function answer(outcome: Outcome, image?: Buffer): void {
  const result = encodeFrame('result', Buffer.from(JSON.stringify(outcome)));
  writeAll(image === undefined ? result : Buffer.concat([result, encodeFrame('image', image)]));
}

/** Synchronous, so that the answer is out before `die`. */
function writeAll(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

/**
 * Bytes. Not `resourceUsage().maxRSS`: Linux inherits that from the process that forked this one. Without a better
 * figure from the kernel, the present resident memory is a lower bound.
 */
function peakRss(): number {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kib !== undefined) return Number(kib) * 1024;
  } catch {
    // This system has no /proc.
  }
  return process.memoryUsage.rss();
}

/** Processor time so far, in all threads. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Not `process.exit`, which waits for libvips' threads in the middle of a decode. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
