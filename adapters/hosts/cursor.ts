import type { HostProfile } from '../../gateway/ports/host.js';

export const profiles: readonly HostProfile[] = [
  {
    name: 'cursor',
    title: 'Cursor',
    match: { names: ['cursor-vscode'] },
    behaviour: {
      structured: { is: 'both', source: 'nothing else reported' },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: 'mcp-feedback-enhanced #176: since 0.49, for models that take images',
      },
      links: { is: 'unknown', source: 'nothing found' },
      blobs: { is: 'unknown', source: 'nothing found' },
      errors: { is: 'unknown', source: 'nothing found' },
      user: { is: 'blocks', source: 'its tool rows' },
    },
  },
];
