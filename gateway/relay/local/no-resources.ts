import type { GatewayError } from '../../errors.js';
import { asking } from '../../mcp/inquire.js';
import { RESOURCE_LISTS } from '../../mcp/resource-lists.js';
import type { Asked } from '../caller.js';
import type { LocalAnswer } from '../client/local-answer.js';
import type { PendingRequest } from '../pending-request.js';
import type { ServerAbilities } from '../upstream/server-abilities.js';
import { viewOf } from '../upstream/view.js';
import { notFound } from './own-resources.js';

/**
 * Wharf declares `resources` in the name of every server, because hosts read links only where it is declared. A server
 * without them does not know their methods, so Wharf answers for it: there are none.
 */
export async function answerWithoutResources(
  { method, params }: PendingRequest,
  { client, exchange, messages, session, inquire }: Asked,
  { abilities, refused }: { abilities: ServerAbilities; refused: (error: GatewayError) => void },
): Promise<LocalAnswer | undefined> {
  const list = RESOURCE_LISTS[method];
  if (list === undefined && method !== 'resources/read') return undefined;
  const isAsked = !session && !messages.era.hasSessions;
  const view = viewOf(client.protocolVersion, exchange.principal);
  const { lacksResources } = isAsked ? await abilities.of(view, asking(inquire)) : { ...session };
  if (!lacksResources) return undefined;
  if (list === undefined) {
    const missing = { uri: params.uri ?? null, why: 'This server has no resources.' };
    return notFound(missing, messages.era, refused);
  }
  const { hasCacheFields } = messages.era;
  return { result: { [list]: [], ...(hasCacheFields && { ttlMs: 0, cacheScope: 'private' }) } };
}
