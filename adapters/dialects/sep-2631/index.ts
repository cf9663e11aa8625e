import type { Dialect } from '../../../gateway/ports/dialect.js';
import { readArgument } from './argument.js';
import { downloads, EXTENSION, FILES, NAME } from './capability.js';
import { slotsOf } from './declared.js';
import { methods } from './methods.js';
import { showTool } from './show-tool.js';
import { transfer } from './transfer.js';
import { structure, write } from './write.js';

/** SEP-2631: files have handles, and their bytes travel beside the messages. Older revisions of it are read as well. */
export function create(): Dialect {
  return {
    name: NAME,
    about: 'files are objects with a handle, uploaded and downloaded beside the messages; for Codex.',
    undeclaredBy: 'codex-*',
    revision: 'c3cf0eba (2026-06-09)',
    reads: ['files', 'fileInputs'],
    places: [],
    spokenBy: downloads,
    read: () => ({ kind: 'not-mine' }),
    write,
    structure,
    declares: { files: FILES },
    showServer: () => [{ path: ['extensions', EXTENSION], value: { methods: Object.keys(methods) } }],
    slotsOf,
    showTool,
    // Codex, which cannot declare what it speaks, looks for the keyword at the top level only
    liftsArguments: (client) => client.dialects?.includes(NAME) === true,
    readArgument,
    methods,
    transfer,
  };
}
