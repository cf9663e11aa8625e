import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'mcpToModelOutput in packages/mcp of vercel/ai, @ai-sdk/mcp 1.0.102';

export const profiles: readonly HostProfile[] = [
  {
    name: 'ai-sdk',
    title: 'AI SDK',
    match: { names: ['ai-sdk-mcp-client'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: only the content` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: `${SOURCE}, in its own size; the types and the edge that every model service takes`,
      },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: `${SOURCE}: the block as JSON, with its base64` },
      errors: { is: 'content', source: `${SOURCE}: isError is not looked at` },
      keywords: {
        is: 'refused',
        source:
          '@ai-sdk/google 3.0.141 sends `format`, and Gemini answers 400: google-gemini/gemini-cli #2237; 4.0 sends JSON Schema',
      },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
