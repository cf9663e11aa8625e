import { batchIds, hugeIds, wideArguments } from './heavy-messages.js';
import { abandonedCalls, idleProcesses, largeCapabilities, openStreams, unusedTickets } from './hoarders.js';
import { unreadAnswers, unreadFiles, unreadPipeline } from './never-readers.js';
import { badAnswers, badLines, wideAnswers } from './server-calls.js';
import { drippingBodies, drippingHeads, drippingUploads, oneByteChunks, unfinishedPosts } from './slow-senders.js';
import type { HostilePeer } from './target.js';

/** In the order of the report. */
export const PEERS: readonly HostilePeer[] = [
  drippingBodies,
  drippingUploads,
  drippingHeads,
  oneByteChunks,
  unfinishedPosts,
  unreadAnswers,
  unreadFiles,
  unreadPipeline,
  unusedTickets,
  openStreams,
  idleProcesses,
  largeCapabilities,
  abandonedCalls,
  batchIds,
  wideArguments,
  hugeIds,
  badAnswers,
  badLines,
  wideAnswers,
];
