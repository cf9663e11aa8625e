import { readdirSync, readlinkSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { FaultStores } from './fault-stores.js';
import type { RawMessage } from './raw-client.js';
import { RawClient } from './raw-client.js';
import { until } from './wait.js';

/** More than one part of either store, so that a write is under way when the answer stops in its middle. */
export const BLOB = { size: 9_000_000, stopAfter: 9_000_000 };

/**
 * How much more resident memory a gateway may take for a file that is four or more times as large, in MiB. What is read
 * from peers is freed every 8 MiB, whatever its file's size; the rest is for V8's heap and what it leaves outside, which
 * vary. A gateway that kept a tenth of what passes would take more.
 */
export const MOST_GROWTH_MIB = 64;

const GAUGES = [
  'wharf_held_bytes',
  'wharf_part_memory_bytes',
  'wharf_queue_length',
  'wharf_open_exchanges',
  'wharf_clean_ups',
] as const;

/** What a gateway says of itself on its admin port. */
export async function gauge(adminUrl: string, name: string): Promise<number> {
  const [value = Number.NaN] = await gauges(adminUrl, [name]);
  return value;
}

/** Several of its values at one moment. */
export async function gauges(adminUrl: string, names: readonly string[]): Promise<number[]> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = text.split('\n');
  return names.map((name) => {
    const line = lines.find((candidate) => candidate.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  });
}

/** The answer of `/readyz`. Readiness itself asks the stores, and so also finds out that one is back. */
export async function readiness(adminUrl: string): Promise<{ status: number; parts: Record<string, string> }> {
  const response = await fetch(`${adminUrl}/readyz`);
  const { parts } = (await response.json()) as { parts: Record<string, string> };
  return { status: response.status, parts };
}

/** A file is on its way into the store, and a part of it has been sent. */
export async function untilStoring(adminUrl: string, stores: FaultStores): Promise<void> {
  await until(async () => (await gauge(adminUrl, 'wharf_part_memory_bytes')) > 0 && (await stores.unfinished()) > 0);
}

/**
 * No memory, place in a queue, exchange, unfinished write or open file is left over, and no object but `kept`.
 * @param left `pid`: the gateway's, where it is not in this process
 */
export async function expectNothingLeft(
  adminUrl: string,
  stores: FaultStores,
  { kept = 0, unfinished = 0, pid = process.pid }: { kept?: number | 'any'; unfinished?: number; pid?: number } = {},
): Promise<void> {
  await until(async () => {
    const values = await gauges(adminUrl, GAUGES);
    return values.every((value) => value === 0);
  });
  // `any`: equal files become one in the background, so how many there are is not known beforehand
  if (kept !== 'any') expect(await stores.objects()).toHaveLength(kept);
  expect(await stores.unfinished()).toBe(unfinished);
  const { path } = stores.config.objects as { path?: string };
  if (path !== undefined) expect(openFilesBelow(path, pid)).toEqual([]);
}

/** The next exchange: a session of its own, a file, and its bytes behind the link. */
export async function expectWorking(mcp: string, seed = 77): Promise<void> {
  const client = await RawClient.connect(mcp);
  const answer = await client.call('blob', { size: 600_000, seed });
  expect(answer.error).toBeUndefined();
  expect(await sizeBehind(answer)).toBe(600_000);
}

function linkOf(answer: RawMessage): string {
  const meta = answer.result?._meta as Record<string, { url: string }[]> | undefined;
  return meta?.['dev.wharf/files']?.[0]?.url ?? '';
}

/** Bytes that the answer's link leads to. */
export async function sizeBehind(answer: RawMessage): Promise<number> {
  const response = await fetch(linkOf(answer));
  return response.ok ? (await response.arrayBuffer()).byteLength : -response.status;
}

function openFilesBelow(path: string, pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return target.startsWith(`${path}/`) ? [target] : [];
    } catch {
      // closed meanwhile
      return [];
    }
  });
}
