import type { Dialect } from '../../../gateway/ports/dialect.js';
import { readArgument } from './argument.js';
import { slotsOf } from './declared.js';
import { isSpokenBy, NAME } from './file-param.js';
import { showTool } from './show-tool.js';
import { structure } from './structure.js';

/** `openai/fileParams` of OpenAI's Apps SDK: a file argument is an object with an address to fetch the file from. */
export function create(): Dialect {
  return {
    name: NAME,
    about:
      "file arguments are OpenAI's file objects (`openai/fileParams`), of which Wharf fetches `download_url`; for ChatGPT.",
    undeclaredBy: 'openai-*',
    revision: 'Apps SDK, 2025/2026',
    places: [],
    // its hosts read blocks as every client does; what they fetch stands in structuredContent
    spokenBy: () => false,
    read: () => ({ kind: 'not-mine' }),
    write: () => [],
    passes: isSpokenBy,
    // its hosts look up names of arguments, not paths
    liftsArguments: isSpokenBy,
    slotsOf,
    showTool,
    readArgument,
    structure,
  };
}
