import { blobChars } from '../servers/blob.js';
import type { PictureName } from '../servers/picture.js';
import { type Measured, measure, type Session, toolCall } from './client.js';
import type { Lab } from './lab.js';
import { cpuSeconds, isStartedBy, peakRss, resetPeak } from './proc.js';
import type { Target } from './target.js';

/** The command line of the process that makes previews. */
const PREVIEWER = /previews\/local\/child\.js|bundle\/child\.js/;
const PICTURE_TIMEOUT_MS = 120_000;

/** One or several blob calls at once and what they cost the target. */
export interface BlobCost {
  /** Seconds until the last answer was there. */
  wall: number;
  /** CPU seconds of the target's processes. */
  cpu: number;
  /** CPU seconds of those of them that make previews. */
  previews: number;
  /** Bytes. */
  peak: number;
  /** The longest wait for an answer's first byte, seconds. */
  firstByte: number;
  /** One text for each call that failed. */
  errors: string[];
}

/** Decoded bytes of a blob of `mb` MB of base64 (10⁶ characters). Whole quads: there is no padding. */
export const decodedBytes = (mb: number) => (blobChars(mb) / 4) * 3;

/** A gateway that cuts must say the right size; one that passes the bytes through must pass all of them. */
function wrong(measured: Measured, mb: number): string | undefined {
  const size = /"size":\s*(\d+)/.exec(measured.start)?.[1];
  if (size !== undefined) {
    return Number(size) === decodedBytes(mb) ? undefined : `says ${size} bytes instead of ${decodedBytes(mb)}`;
  }
  return measured.bytes >= blobChars(mb) ? undefined : `${measured.bytes} bytes came, and no file: ${measured.start}`;
}

/** Calls `blob` on every session at once. */
export function callBlobs(
  target: Target,
  sessions: readonly Session[],
  mb: number,
  timeoutMs: number,
): Promise<BlobCost> {
  const callAll = () => Promise.all(sessions.map((session) => measure(session, toolCall('blob', { mb }), timeoutMs)));
  return costOfCalls(target, callAll, (one) => wrong(one, mb));
}

let number = 0;

/** Calls a tool `times` times on every session, one after the other, for bytes that differ from call to call. */
function callDifferent(
  sessions: readonly Session[],
  times: number,
  call: (number: number) => unknown,
  timeoutMs: number,
): Promise<Measured[]> {
  const callInTurn = async (session: Session) => {
    const all: Measured[] = [];
    for (let time = 0; time < times; time += 1) {
      number += 1;
      all.push(await measure(session, call(number), timeoutMs));
    }
    return all;
  };
  return Promise.all(sessions.map(callInTurn)).then((all) => all.flat());
}

/** Calls `blob` so. */
export function callDifferentBlobs(
  target: Target,
  sessions: readonly Session[],
  { mb, times }: { mb: number; times: number },
  timeoutMs: number,
): Promise<BlobCost> {
  const blob = (count: number) => toolCall('blob', { mb, number: count });
  return costOfCalls(
    target,
    () => callDifferent(sessions, times, blob, timeoutMs),
    (one) => wrong(one, mb),
  );
}

interface PictureCalls {
  picture: PictureName;
  times: number;
  /** The same bytes in each call. */
  isSame?: boolean;
}

/** Calls `picture` so. @param wrongWith what is wrong with an answer */
export function callPictures(
  target: Target,
  sessions: readonly Session[],
  { picture, times, isSame = false }: PictureCalls,
  wrongWith: (measured: Measured) => string | undefined,
): Promise<BlobCost> {
  const call = (count: number) => toolCall('picture', { picture, number: isSame ? 0 : count });
  return costOfCalls(target, () => callDifferent(sessions, times, call, PICTURE_TIMEOUT_MS), wrongWith);
}

async function costOfCalls(
  target: Target,
  call: () => Promise<Measured[]>,
  wrongWith: (measured: Measured) => string | undefined,
): Promise<BlobCost> {
  const pids = target.pids();
  const previewers = pids.filter((pid) => isStartedBy(pid, PREVIEWER));
  resetPeak(pids);
  const [cpu, previews] = [cpuSeconds(pids), cpuSeconds(previewers)];
  const began = performance.now();
  const all = await call();
  return {
    wall: (performance.now() - began) / 1000,
    cpu: cpuSeconds(pids) - cpu,
    previews: cpuSeconds(previewers) - previews,
    peak: peakRss(pids),
    firstByte: Math.max(...all.map((one) => one.firstByte)),
    errors: all.flatMap((one) => one.error ?? wrongWith(one) ?? []),
  };
}

/** Compares what a gateway has stored since `before` with what it should have. */
export async function storedWrong(lab: Lab, before: number, mb: number, calls: number): Promise<string[]> {
  const { bytes } = await lab.storeStats();
  const expected = decodedBytes(mb) * calls;
  return bytes - before === expected ? [] : [`the store got ${bytes - before} bytes instead of ${expected}`];
}
