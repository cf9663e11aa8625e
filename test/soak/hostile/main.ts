/** All hostile callers, as one principal, in a process of their own. It is ended from outside, with all it holds open. */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { PEERS } from './peers.js';
import { runPeer } from './target.js';

/** Elsewhere they would have a machine of their own; here they must not take the gateway's CPU time themselves. */
const NICE = 10;

/** One kind comes after the other: all at once is more than one small machine can send. */
const BETWEEN_MS = 1_000;

setPriority(NICE);
const [url = '', key = '', wide = ''] = process.argv.slice(2);
await Promise.all(
  PEERS.map(async (peer, place) => {
    await sleep(place * BETWEEN_MS);
    await runPeer(peer, { url, key, wide: wide === 'wide' });
  }),
);
