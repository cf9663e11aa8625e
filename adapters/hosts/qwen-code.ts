import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'what @qwen-code/qwen-code 0.24.4 sends to its model';

export const profiles: readonly HostProfile[] = [
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    match: { names: ['qwen-cli-mcp-client*'] },
    behaviour: {
      structured: { is: 'both', source: `${SOURCE}: the JSON, then the texts` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: `${SOURCE}: to models that take images; the types that every model service takes`,
      },
      links: { is: 'text', source: `${SOURCE}: "Resource Link: name at uri"` },
      blobs: { is: 'unchecked', source: `${SOURCE}: a document of any type, to models that take documents` },
      errors: { is: 'string', source: `${SOURCE}: the whole result as one text` },
      meta: { is: 'errors', source: `${SOURCE}: the whole result is in that text` },
      text: {
        is: { most: 25_000, unit: 'characters', per: 'result', lines: 1000, over: 'saved' },
        source: `${SOURCE}: DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD and _LINES`,
      },
      user: { is: 'text', source: 'it runs in a terminal' },
      terminal: { is: true, source: 'it runs in a terminal' },
    },
  },
];
