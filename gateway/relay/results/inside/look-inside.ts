import { breathe } from '../../../budget/turn.js';
import { GatewayError } from '../../../errors.js';
import { NestedCuts } from '../../cut/nested-cuts.js';
import { SCANNED_FROM } from '../../cut/places.js';
import type { Work } from '../work.js';
import { noteOrigins } from './note-origins.js';
import { areHex, wordsOf } from './words.js';

/**
 * Gives the antivirus what is short enough to stay in the message: what has become a file it has seen on its way into
 * the store. One by one, so that a message takes one place at a time, however much is in it.
 * @throws GatewayError `file_infected`, `file_unscannable`, `file_not_base64`, `antivirus_unavailable`, `antivirus_full`
 */
export async function lookInside({ cuts, deps, to }: Work): Promise<void> {
  const { antivirus, origins } = deps.cut.ingest;
  if (origins) await noteOrigins({ cuts, deps, to }, origins);
  if (!antivirus) return;
  const owner = { principal: to.principal, server: deps.server };
  const { signal } = to;
  const seen = new Set<string>();
  for (const cut of cuts.cuts) {
    const pieces = cut.inlineBody;
    // the antivirus knows nothing that short
    if (!pieces || cut.value.length < SCANNED_FROM) continue;
    // a message may have tens of thousands of them
    const wait = breathe(owner);
    if (wait) await wait;
    const found = cut.inspect();
    if (found && !seen.has(found.digest) && !areHex(pieces)) {
      seen.add(found.digest);
      const digest = () => found.digest;
      await antivirus.scan({ owner, path: cut.path, signal, digest }, found.size, () => cut.decoded());
    }
  }
  // a file that Wharf cannot decode, a client may still be able to
  const odd = cuts.claimed.find(
    ({ cut, place, reading }) => cut.inline && cut.fault && place.encoding === 'base64' && reading,
  );
  if (odd) throw new GatewayError('file_not_base64', { path: odd.cut.path, reason: odd.cut.fault?.message ?? '' });
  for (const { value, nested } of cuts.texts) {
    if (!(nested instanceof NestedCuts)) continue;
    const path = `/${value.path.join('/')}`;
    for await (const word of wordsOf(nested, SCANNED_FROM, owner)) {
      if (seen.has(word)) continue;
      seen.add(word);
      const bytes = Buffer.from(word, 'base64');
      await antivirus.scan({ owner, path, signal }, bytes.length, () => [bytes]);
    }
  }
}
