import type { Dialect } from '../../../gateway/ports/dialect.js';
import { mayHoldFile, readArgument } from './argument.js';
import { slotsOf } from './declared.js';
import { PLACES } from './places.js';
import { read } from './read.js';
import { showTool } from './show-tool.js';
import { write } from './write.js';

/** Plain MCP: what servers have always sent, and what every client understands. */
export function create(): Dialect {
  return {
    name: 'mcp-inline',
    about: 'plain MCP, which every client speaks: blocks in results; handles, links, data URIs or base64 in arguments.',
    revision: 'every revision of MCP',
    fromServers: { places: PLACES, read },
    // the base case: every client reads it, so it is last in the list of dialects
    forClients: { spokenBy: () => true, write },
    slotsOf,
    showTool,
    mayHoldFile,
    readArgument,
  };
}
