import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/json.js';
import type { UpstreamDeps } from '../upstream/deps.js';
import type { Beside, Catalog } from './catalog.js';
import type { FileTakers } from './file-takers.js';

/** The tools that Wharf adds to a server's, as far as lists and results need them. */
export interface OwnTools {
  /** True when this server has some. */
  readonly any: boolean;
  definitions(beside: Beside, client: ClientFacts): JsonObject[];
  requestName(beside: Beside): string | undefined;
  linkName(beside: Beside): string | undefined;
}

/** The dependencies of the tools room. */
export interface ToolDeps extends UpstreamDeps {
  catalog: Catalog;
  takers: FileTakers;
  tools: OwnTools;
}
