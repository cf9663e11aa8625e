import { isObject } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { Dialect, JsonObject } from '../../../gateway/ports/dialect.js';

const NAME = 'mcp-apps';

/**
 * MCP Apps (SEP-1865): pages of a server that its client's host shows, which call the server's tools themselves. Their
 * results are the data of a page, so files in them stay as the server wrote them: a host's default policy for a page allows no
 * connection (`connect-src 'none'`), so it could not follow a link.
 */
export function create(): Dialect {
  return {
    name: NAME,
    about: 'tools that only a page of the server calls (MCP Apps) answer with bytes, not links.',
    revision: '2026-01-26 (SEP-1865)',
    // `io.modelcontextprotocol/ui`, by its last word
    reads: ['ui'],
    pages: {
      shownBy,
      calls,
      isPage: (uri) => /^ui:\/\//i.test(uri),
    },
  };
}

/** A host declares the types of pages that it shows. */
function shownBy({ capabilities, dialects }: ClientFacts): boolean {
  const { ui } = capabilities;
  return isObject(ui) || dialects?.includes(NAME) === true;
}

/** "Host MUST NOT include tools in the agent's tool list when their visibility does not include "model"". */
function calls({ _meta }: JsonObject): boolean {
  const ui = isObject(_meta) ? _meta.ui : undefined;
  const visibility = isObject(ui) ? ui.visibility : undefined;
  return Array.isArray(visibility) && visibility.includes('app') && !visibility.includes('model');
}
