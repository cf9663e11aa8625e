import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'what @strands-agents/sdk 1.19.0 sends to its model';

export const profiles: readonly HostProfile[] = [
  {
    name: 'strands',
    title: 'Strands Agents (TypeScript)',
    match: { names: ['strands-agents-ts-sdk'] },
    behaviour: {
      structured: { is: 'content', source: SOURCE },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: `${SOURCE}: in a message of their own, in their own size; the types and the edge that every model service takes`,
      },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: `${SOURCE}: the block as JSON, with its base64` },
      errors: { is: 'content', source: `${SOURCE}: the images of an error are shown` },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
