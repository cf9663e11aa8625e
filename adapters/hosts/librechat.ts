import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'packages/api/src/mcp/parsers.ts of danny-avila/LibreChat @001f16d';

export const profiles: readonly HostProfile[] = [
  {
    name: 'librechat',
    title: 'LibreChat',
    match: { names: ['@librechat/api-client'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: structuredContent only where content is empty` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: `${SOURCE}; more than 10 MB throw; the types that every model service takes`,
      },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'named', source: `${SOURCE}: URI and type` },
      embeddedTexts: { is: 'pages', source: 'danny-avila/LibreChat #9299, #9581: pages of ui:// go to the user alone' },
      errors: { is: 'content', source: 'packages/api/src/mcp/MCPManager.ts: isError is not looked at' },
      user: { is: 'blocks', source: `${SOURCE}: artifacts` },
    },
  },
];
