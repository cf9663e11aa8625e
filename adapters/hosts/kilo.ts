import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'what @kilocode/cli 7.7.9 sends to its model';

export const profiles: readonly HostProfile[] = [
  {
    name: 'kilo',
    title: 'Kilo CLI',
    match: { names: ['kilo'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: only the content` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: `${SOURCE}: attachments; the types that every model service takes`,
      },
      links: { is: 'dropped', source: SOURCE },
      blobs: { is: 'named', source: `${SOURCE}: its address, type and size, unless it is an image or a PDF` },
      errors: { is: 'text', source: `${SOURCE}: the texts are thrown` },
      text: {
        is: { most: 51_200, unit: 'bytes', per: 'result', lines: 2000, over: 'saved' },
        source: `${SOURCE}; packages/opencode/src/tool/truncate.ts, which it has from opencode`,
      },
      user: { is: 'text', source: 'it runs in a terminal' },
      terminal: { is: true, source: 'its model has the tool bash' },
    },
  },
];
