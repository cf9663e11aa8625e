import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'packages/opencode/src/mcp/catalog.ts of anomalyco/opencode @0ded052';

export const profiles: readonly HostProfile[] = [
  {
    name: 'opencode',
    title: 'opencode',
    match: { names: ['opencode'] },
    behaviour: {
      structured: {
        is: 'without-content',
        source: `${SOURCE}: convertTool; #32074: the JSON replaces images too; 1.18.33 shows the content alone`,
      },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: 'its source: attachments; the types that every model service takes; SawyerHood/dev-browser #14',
      },
      links: { is: 'dropped', source: 'its source' },
      blobs: {
        is: 'named',
        source: 'what opencode 1.18.33 sends to its model: the address, type and size, unless it is an image or a PDF',
      },
      errors: { is: 'text', source: `${SOURCE}: the texts are thrown` },
      text: {
        is: { most: 51_200, unit: 'bytes', per: 'result', lines: 2000, over: 'saved' },
        source: 'packages/opencode/src/tool/truncate.ts @0a3427d: all texts of a result, joined',
      },
      user: { is: 'text', source: 'it runs in a terminal' },
      terminal: { is: true, source: 'it runs in a terminal' },
    },
  },
];
