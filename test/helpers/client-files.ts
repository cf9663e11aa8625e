import { adapters } from '../../adapters/index.js';
import type { AdapterList } from '../../gateway/config/adapter-list.js';
import type { Transfer } from '../../gateway/ports/transfer.js';
import { type Peer, transferTo } from '../contract/transfer/peer.js';

/**
 * The shipped adapters, with the peer for a host whose files clients hand over. It listens on loopback, which no
 * client's address may lead to, so it counts as an upstream's own host; every other rule holds.
 */
export function trusting(peer: Peer): AdapterList {
  const https = transferTo(peer);
  const transfer: Transfer = {
    upload: (request, signal) => https.upload(request, signal),
    close: () => https.close(),
    download: (request, signal) =>
      https.download({ ...request, rules: { ...request.rules, ownOrigin: peer.https } }, signal),
  };
  return { ...adapters, transfer: { https: { ...adapters.transfer.https, create: async () => transfer } } };
}
