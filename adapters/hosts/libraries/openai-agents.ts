import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'what @openai/agents 0.20.0 sends to its model';
const CODE = 'dist/runner/toolOutputNormalization of @openai/agents-core';

export const profiles: readonly HostProfile[] = [
  {
    name: 'openai-agents',
    title: 'OpenAI Agents SDK',
    // the names that it makes up of a URL, or of the command that starts Wharf; an agent may name its server, and then an
    // operator says what it is (`like: openai-agents`)
    match: {
      names: ['streamable-http: http*', 'sse: http*', 'stdio: *wharf*', 'stdio: npx', 'stdio: node', 'stdio: docker'],
    },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: the JSON only with useStructuredContent` },
      images: {
        is: { reach: 'model', notAlways: true, types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: `${SOURCE}: to responses, and nothing of them to chat completions; the types that its models take`,
      },
      links: {
        is: 'whole',
        source: `${CODE}: one block that is neither text nor an image makes the whole result one text, images as base64`,
      },
      embeddedTexts: { is: 'whole', source: `${SOURCE}: as with a link` },
      blobs: { is: 'json', source: `${SOURCE}: the whole result as one text, base64 and all` },
      errors: { is: 'content', source: `${SOURCE}: isError is not looked at` },
      joined: { is: true, source: 'what @openai/agents 0.20.0 sends to chat completions' },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
