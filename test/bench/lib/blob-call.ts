import { blobChars } from '../servers/blob.js';
import { type Measured, measure, type Session, toolCall } from './client.js';
import type { Lab } from './lab.js';
import { cpuSeconds, peakRss, resetPeak } from './proc.js';
import type { Target } from './target.js';

/** One or several blob calls at once and what they cost the target. */
export interface BlobCost {
  /** Seconds until the last answer was there. */
  wall: number;
  /** CPU seconds of the target's processes. */
  cpu: number;
  /** Bytes. */
  peak: number;
  /** The longest wait for an answer's first byte, seconds. */
  firstByte: number;
  /** One text for each call that failed. */
  errors: string[];
}

/** Decoded bytes of a blob of `mb` MB of base64 (10⁶ characters). Whole quads: there is no padding. */
export const decodedBytes = (mb: number) => (blobChars(mb) / 4) * 3;

/** A gateway that cuts must say the right size; whoever passes the bytes through must pass all of them. */
function wrong(measured: Measured, mb: number): string | undefined {
  if (measured.error !== undefined) return measured.error;
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
  return costOfCalls(target, mb, callAll);
}

let number = 0;

/** Calls `blob` `times` times on every session, one after the other, for bytes that differ from call to call. */
export function callDifferentBlobs(
  target: Target,
  sessions: readonly Session[],
  { mb, times }: { mb: number; times: number },
  timeoutMs: number,
): Promise<BlobCost> {
  const callInTurn = async (session: Session) => {
    const all: Measured[] = [];
    for (let time = 0; time < times; time += 1) {
      number += 1;
      all.push(await measure(session, toolCall('blob', { mb, number }), timeoutMs));
    }
    return all;
  };
  return costOfCalls(target, mb, async () => (await Promise.all(sessions.map(callInTurn))).flat());
}

async function costOfCalls(target: Target, mb: number, call: () => Promise<Measured[]>): Promise<BlobCost> {
  const pids = target.pids();
  resetPeak(pids);
  const cpu = cpuSeconds(pids);
  const began = performance.now();
  const all = await call();
  return {
    wall: (performance.now() - began) / 1000,
    cpu: cpuSeconds(pids) - cpu,
    peak: peakRss(pids),
    firstByte: Math.max(...all.map((one) => one.firstByte)),
    errors: all.flatMap((one) => wrong(one, mb) ?? []),
  };
}

/** Compares what a gateway has stored since `before` with what it should have. */
export async function storedWrong(lab: Lab, before: number, mb: number, calls: number): Promise<string[]> {
  const { bytes } = await lab.storeStats();
  const expected = decodedBytes(mb) * calls;
  return bytes - before === expected ? [] : [`the store got ${bytes - before} bytes instead of ${expected}`];
}
