import type { HostProfile } from '../../gateway/ports/host.js';

export const profiles: readonly HostProfile[] = [
  {
    name: 'chatgpt',
    title: 'ChatGPT',
    match: { names: ['openai-mcp'] },
    behaviour: {
      structured: {
        is: 'both',
        source: 'anthropics/claude-code #55677; in its app bridge the JSON replaces the text (community 1378047)',
      },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: 'reports of 2025: inline display is unreliable; the types that its models take',
      },
      links: { is: 'unknown', source: 'nothing found' },
      blobs: { is: 'unknown', source: 'nothing found' },
      errors: { is: 'unknown', source: 'nothing found' },
      user: { is: 'answer', source: "its user reads the model's answer" },
    },
  },
];
