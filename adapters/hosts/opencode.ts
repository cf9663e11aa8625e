import type { HostProfile } from '../../gateway/ports/host.js';

export const profiles: readonly HostProfile[] = [
  {
    name: 'opencode',
    title: 'opencode',
    match: { names: ['opencode'] },
    behaviour: {
      structured: { is: 'without-content', source: 'sst/opencode #32074: the JSON replaces images too' },
      images: { is: { reach: 'model' }, source: 'its source: attachments' },
      links: { is: 'dropped', source: 'its source' },
      blobs: { is: 'shown', source: 'its source: every blob becomes an attachment' },
      errors: { is: 'text', source: 'its source' },
      user: { is: 'text', source: 'it runs in a terminal' },
      terminal: { is: true, source: 'it runs in a terminal' },
    },
  },
];
