import type { HandleUses } from '../../ports/dialect.js';
import type { Addressee } from '../pending-request.js';
import { viewOf } from '../upstream/view.js';
import type { ResultDeps } from './deps.js';

/** What a model can do with a handle, given the tools that this client shows it. */
export function handleUses(
  { takers, tools, catalog, offered }: ResultDeps,
  { client, identity, principal }: Addressee,
): HandleUses | undefined {
  const linkTool = tools.linkName(catalog.beside(viewOf(client.protocolVersion, principal), offered.shownTo(identity)));
  return takers.any || linkTool !== undefined ? { isTaken: takers.any, ...(linkTool && { linkTool }) } : undefined;
}
