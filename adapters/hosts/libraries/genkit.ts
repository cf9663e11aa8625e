import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'processResult in lib/util/tools.js of @genkit-ai/mcp 1.42.0';

export const profiles: readonly HostProfile[] = [
  {
    name: 'genkit',
    title: 'Genkit (TypeScript)',
    // what a host that its user has not named sends; a client sends the name that its user gives it: an operator says
    // what it is (`like: genkit`)
    match: { names: ['genkit-mcp'] },
    behaviour: {
      structured: { is: 'without-content', source: `${SOURCE}: the JSON alone` },
      images: {
        is: { reach: 'json' },
        source: `${SOURCE}: one block that is not text makes the whole result one JSON text, base64 and all`,
      },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: SOURCE },
      errors: { is: 'text', source: `${SOURCE}: the texts, as the member error of a JSON text` },
      joined: { is: true, source: SOURCE },
      meta: { is: 'results', source: `${SOURCE}: the whole result, where it has several blocks` },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
