import type { Dialect } from '../../../gateway/ports/dialect.js';
import { mayHoldFile, readArgument } from './argument.js';
import { downloads, EXTENSION, FILES, NAME } from './capability.js';
import { slotsOf } from './declared.js';
import { methods } from './methods.js';
import { showTool } from './show-tool.js';
import { transfer } from './transfer.js';
import { structure, write } from './write.js';

/**
 * SEP-2631: files have handles, and their bytes travel outside the messages. Older revisions are accepted too.
 *
 * Its drafts, and the software that speaks them:
 * - `files/authorizeUpload` and `files/authorizeDownload` (2026-06-09): Codex, behind a switch that is off by default (pull
 *   request 28337 of openai/codex, closed).
 * - `files/prepareUpload`, `files/completeUpload` and `files/getDownload`: a prototype of a client in Rust; no released
 *   peer known.
 * - inputs as objects, declared in `inputFiles` or `_meta["modelcontextprotocol.io/fileInputs"]` (2026-04-22): no released
 *   peer known.
 */
export function create(): Dialect {
  return {
    name: NAME,
    about: 'files are objects with a handle, uploaded and downloaded outside the messages; for Codex.',
    undeclaredBy: 'codex-*',
    revision: 'c3cf0eba (2026-06-09)',
    reads: ['files', 'fileInputs'],
    forClients: { spokenBy: downloads, write },
    structure,
    declares: { files: FILES },
    showServer: () => [{ path: ['extensions', EXTENSION], value: { methods: Object.keys(methods) } }],
    slotsOf,
    showTool,
    // Codex cannot declare its dialect, and looks for the keyword only at the top level
    liftsArguments: (client) => client.dialects?.includes(NAME) === true,
    mayHoldFile,
    readArgument,
    methods,
    transfer,
  };
}
