/** All hostile callers, as one principal, in a process of their own. It is ended from outside, with all it holds open. */
import { setPriority } from 'node:os';
import { PEERS } from './peers.js';
import { runPeer } from './target.js';

/** Elsewhere they would have a machine of their own; here they must not take the gateway's CPU time themselves. */
const NICE = 10;

setPriority(NICE);
const [url = '', key = '', wide = ''] = process.argv.slice(2);
await Promise.all(PEERS.map((peer) => runPeer(peer, { url, key, wide: wide === 'wide' })));
