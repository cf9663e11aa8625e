import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'internal/agent/tools/mcp/tools.go of charmbracelet/crush @98bf0e5';

export const profiles: readonly HostProfile[] = [
  {
    name: 'crush',
    title: 'Crush',
    match: { names: ['crush'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: only the content` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], perResult: 1 },
        source: `${SOURCE}: the first one; the types that every model service takes`,
      },
      links: { is: 'text', source: `${SOURCE}: as Go prints them` },
      embeddedTexts: { is: 'dropped', source: `${SOURCE}: Go prints where they are in memory` },
      blobs: { is: 'dropped', source: `${SOURCE}: as embedded texts; sound beside an image is left out` },
      errors: { is: 'content', source: `${SOURCE}: IsError is not looked at` },
      user: { is: 'text', source: 'it runs in a terminal' },
      terminal: { is: true, source: 'its model has the tool bash' },
    },
  },
];
