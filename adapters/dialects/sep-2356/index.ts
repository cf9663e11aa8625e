import type { Dialect } from '../../../gateway/ports/dialect.js';
import { readArgument } from './argument.js';
import { asks } from './form.js';
import { readRefusal, refuse } from './refuse.js';
import { showTool } from './show-tool.js';
import { declaredFiles, slotsOf } from './slots.js';

/**
 * SEP-2356, declarative file inputs: arguments that a schema marks as files, filled with data: URIs.
 *
 * Its older drafts, and the software that speaks them:
 * - `inputFiles` beside the schema (2026-03-04): the prototypes for the TypeScript SDK (pull request 1633) and the Python
 *   SDK (pull request 2217, closed); no released peer known.
 * - JSON-RPC errors with `file_too_large` and the like (until 2026-04-22): no released peer known.
 * - the keyword as `mcpFile` (2026-03-26): no released peer known.
 */
export function create(): Dialect {
  return {
    name: 'sep-2356',
    about: 'file arguments are marked with `x-mcp-file`, and come as data URIs inside the call.',
    revision: '2026-03-04 … 2026-05-13',
    reads: ['elicitation', 'fileInputs', 'files'],
    // it covers only files sent to servers
    declares: { fileInputs: {} },
    slotsOf,
    declaredFiles,
    showTool,
    readArgument,
    refuse,
    readRefusal,
    asks,
  };
}
