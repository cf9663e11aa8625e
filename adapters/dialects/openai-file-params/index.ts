import type { Dialect } from '../../../gateway/ports/dialect.js';
import { mayHoldFile, readArgument } from './argument.js';
import { fileParamsOf, slotsOf } from './declared.js';
import { isSpokenBy, META_KEY, NAME } from './file-param.js';
import { showTool } from './show-tool.js';
import { structure } from './structure.js';

/** `openai/fileParams` of OpenAI's Apps SDK: a file argument is an object with the address of the file. */
export function create(): Dialect {
  return {
    name: NAME,
    about:
      "file arguments are OpenAI's file objects (`openai/fileParams`), whose `download_url` Wharf fetches; for ChatGPT.",
    undeclaredBy: 'openai-*',
    revision: 'Apps SDK, 2025/2026',
    passes: isSpokenBy,
    // its hosts look up names of arguments, not paths
    liftsArguments: isSpokenBy,
    slotsOf,
    declaredFiles: (tool) => fileParamsOf(tool).map((name) => ({ path: [name], by: META_KEY })),
    showTool,
    mayHoldFile,
    readArgument,
    // its hosts read blocks like every client; the addresses that they fetch are in structuredContent
    structure,
  };
}
