import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/json.js';
import type { UpstreamDeps } from '../upstream/deps.js';
import type { Beside, Catalog } from './catalog.js';
import type { FileTakers } from './file-takers.js';
import type { OfferedTools } from './offered-tools.js';

/** The tools that Wharf adds to a server's, as far as lists and results need them. */
interface OwnTools {
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
  /** Which of the server's tools each caller has, and under which names. */
  offered: OfferedTools;
  tools: OwnTools;
}
