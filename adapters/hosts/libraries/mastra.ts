import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'what @mastra/mcp 2.0.0 with @mastra/core 1.71.0 sends to its model';

export const profiles: readonly HostProfile[] = [
  {
    name: 'mastra',
    title: 'Mastra',
    // it sends the name that its user gives the server: an operator says where it is (`like: mastra`)
    match: { names: [] },
    behaviour: {
      structured: {
        is: 'without-content',
        source: `${SOURCE}: the JSON alone, or the texts alone where the tool has an outputSchema`,
      },
      images: {
        is: { reach: 'json' },
        source: `${SOURCE}: base64 as text to chat completions, nothing of it to responses`,
      },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: `${SOURCE}: the block as JSON, with its base64` },
      errors: { is: 'text', source: `${SOURCE}: the texts are thrown` },
      meta: { is: 'results', source: `${SOURCE}: the whole result as JSON, where it has no image and no sound` },
      keywords: {
        is: 'refused',
        source: '@mastra/core 1.71.0 sends `format` to Gemini, which answers 400: google-gemini/gemini-cli #2237',
      },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
