import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'what @llamaindex/tools 0.1.12 sends to its model';

export const profiles: readonly HostProfile[] = [
  {
    name: 'llamaindex',
    title: 'LlamaIndex (TypeScript)',
    match: { names: ['mcp-client-cli'] },
    behaviour: {
      structured: { is: 'both', source: `${SOURCE}: the whole result as one text` },
      images: { is: { reach: 'json' }, source: `${SOURCE}: the whole result as one text, base64 and all` },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: SOURCE },
      errors: { is: 'string', source: `${SOURCE}: isError is a line of the text` },
      meta: { is: 'results', source: `${SOURCE}: the whole result as one text` },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
