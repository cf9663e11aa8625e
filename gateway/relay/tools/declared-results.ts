import type { Inquire } from '../../mcp/inquire.js';
import type { JsonObject, JsonPath } from '../../ports/json.js';
import type { TracedRequest } from '../pending-request.js';
import type { Catalog } from './catalog.js';

/**
 * What a tool declares about its results. `none`: nothing; `unknown`: it cannot be found out now, although the client
 * may have seen it earlier.
 */
export type DeclaredResult = JsonObject | 'none' | 'unknown';

/** Methods whose results are a tool's. */
const OF_TOOLS = new Set(['tools/call', 'tasks/result', 'tasks/get']);

/** The tool whose result answers a request, if known. */
export function toolOf(request: TracedRequest | undefined): string | undefined {
  return request?.method === 'tools/call' ? request.subject : request?.taskTool;
}

/**
 * What the tools of one message's results declare about them. Each tool is looked up once, however many strings need
 * it.
 * @param requestAt the request answered by the part of the message at this path
 */
export function declaredResults(
  catalog: Catalog,
  view: string,
  inquire: Inquire,
  requestAt: (path: JsonPath) => TracedRequest | undefined,
): (path: JsonPath) => Promise<DeclaredResult> {
  const known = new Map<string, Promise<DeclaredResult>>();
  const once = (key: string, ask: () => Promise<DeclaredResult>) => {
    const asked = known.get(key) ?? ask();
    known.set(key, asked);
    return asked;
  };
  return async (path) => {
    const request = requestAt(path);
    const tool = toolOf(request);
    if (tool !== undefined) return once(`tool ${tool}`, () => ofTool(catalog, view, tool, inquire));
    // a task begun by another client, or an answer resent on another stream: its tool is unknown
    if (!request || OF_TOOLS.has(request.method)) return once('any', () => ofAny(catalog, view, inquire));
    return 'none';
  };
}

async function ofTool(catalog: Catalog, view: string, tool: string, inquire: Inquire): Promise<DeclaredResult> {
  const facts = await catalog.tool(view, tool, inquire);
  if (facts) return facts.outputSchema ?? (facts.hasUnkeptSchema ? 'unknown' : 'none');
  // an unlisted tool has not been shown to any client
  return catalog.isWhole(view) ? 'none' : 'unknown';
}

async function ofAny(catalog: Catalog, view: string, inquire: Inquire): Promise<DeclaredResult> {
  await catalog.load(view, inquire);
  return catalog.isWhole(view) && !catalog.declaresResults(view) ? 'none' : 'unknown';
}
