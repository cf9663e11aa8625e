import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'the MCP parser of danny-avila/LibreChat';

export const profiles: readonly HostProfile[] = [
  {
    name: 'librechat',
    title: 'LibreChat',
    match: { names: ['@librechat/api-client'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: structuredContent only where content is empty` },
      images: { is: { reach: 'model' }, source: `${SOURCE}; more than 10 MB throw` },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'named', source: SOURCE },
      errors: { is: 'unknown', source: 'nothing found' },
      user: { is: 'blocks', source: SOURCE },
    },
  },
];
