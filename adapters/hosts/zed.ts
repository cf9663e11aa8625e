import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'crates/agent/src/tools/context_server_registry.rs of zed-industries/zed @0040008';
const TYPES = 'crates/context_server/src/types.rs @3991ce8';

export const profiles: readonly HostProfile[] = [
  {
    name: 'zed',
    title: 'Zed',
    match: { names: ['Zed'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: only the content` },
      images: {
        is: {
          reach: 'model',
          notAlways: true,
          types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
        },
        source: `${SOURCE}: left out; newer versions have a test in which they stay`,
      },
      links: { is: 'refused', source: `${TYPES}: no such type of block; newer versions know it` },
      embeddedTexts: { is: 'dropped', source: SOURCE },
      blobs: { is: 'dropped', source: SOURCE },
      errors: { is: 'text', source: SOURCE },
      joined: { is: true, source: SOURCE },
      user: { is: 'text', source: `${SOURCE}: raw_output` },
      terminal: { is: true, source: 'its model has the tool terminal' },
    },
  },
];
