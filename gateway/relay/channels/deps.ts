import type { CallDeps } from '../arguments/deps.js';
import type { ResultDeps } from '../results/deps.js';

/** The dependencies of messages between client and server, in both directions. */
export interface ChannelDeps extends CallDeps, ResultDeps {}
