import type { HostProfile } from '../../../gateway/ports/host.js';

const FIRST = 'convertTool of LangChainAdapter in mcp-use 1.34.6';
const SOURCE = 'libraries/typescript/packages/agent/src/llm/toolResultParts.ts of mcp-use/mcp-use @5865e5c';

export const profiles: readonly HostProfile[] = [
  {
    name: 'mcp-use-1',
    title: 'mcp-use 1 (TypeScript)',
    // the package for Python sends this name too, is at 1.7, and shows its model images
    match: { names: ['mcp-use'], versions: '>=1.10 <2' },
    behaviour: {
      structured: { is: 'both', source: `${FIRST}: the whole result as one text` },
      images: { is: { reach: 'json' }, source: `${FIRST}: the whole result as one text, base64 and all` },
      links: { is: 'json', source: FIRST },
      blobs: { is: 'json', source: FIRST },
      errors: { is: 'string', source: `${FIRST}: isError is a member of the text` },
      meta: { is: 'results', source: `${FIRST}: the whole result as one text` },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
  {
    name: 'mcp-use',
    title: 'mcp-use (TypeScript)',
    match: { names: ['mcp-use'], versions: '>=2' },
    behaviour: {
      structured: { is: 'both', source: `${SOURCE}: the content, then the JSON` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: `${SOURCE}, in its own size; the types and the edge that every model service takes`,
      },
      links: { is: 'text', source: `${SOURCE}: [resource_link "name": uri]` },
      blobs: { is: 'named', source: `${SOURCE}: [resource: uri (type)], unless it is an image` },
      errors: { is: 'content', source: `${SOURCE}: a line says that it is one` },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
