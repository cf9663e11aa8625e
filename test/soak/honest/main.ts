/** The honest callers, in a process of their own, so that what is timed is the gateway and not the hostile peers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { useFiles } from './files-caller.js';
import { talk } from './talker.js';
import type { HonestTarget } from './target.js';

/** Between two sessions of one caller. */
const PAUSE_MS = 2_000;
/** Callers begin one after the other, or they would keep meeting at the same calls. */
const STAGGER_MS = 700;

type Caller = (round: number) => Promise<void>;

const [url = '', key = ''] = process.argv.slice(2);
const target: HonestTarget = { url, key };
const files =
  (server: string): Caller =>
  (round) =>
    useFiles(target, server, round);
const CALLERS: readonly Caller[] = [
  files('http'),
  files('sse'),
  files('stdio'),
  () => talk(target, 'everything'),
  files('http'),
];

async function keepCalling(caller: Caller, place: number): Promise<never> {
  await sleep(place * STAGGER_MS);
  for (let round = place; ; round += CALLERS.length) {
    // told already
    await caller(round).catch(() => undefined);
    await sleep(PAUSE_MS);
  }
}

await Promise.all(CALLERS.map(keepCalling));
