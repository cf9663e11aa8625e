import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'what mcporter 0.12.3 prints of a call';

export const profiles: readonly HostProfile[] = [
  {
    name: 'mcporter',
    title: 'mcporter',
    match: { names: ['mcporter'] },
    behaviour: {
      structured: { is: 'without-content', source: `${SOURCE}: the JSON alone` },
      images: {
        is: { reach: 'json' },
        source: `${SOURCE}: base64 where a result has no text, and otherwise nothing of it`,
      },
      links: { is: 'json', source: `${SOURCE}: where a result has no text, and otherwise nothing of it` },
      blobs: { is: 'named', source: `${SOURCE}: [Binary resource: uri]` },
      errors: { is: 'text', source: SOURCE },
      user: { is: 'text', source: 'it prints the texts' },
      terminal: { is: true, source: 'it is called in a terminal, by a person or by a model' },
    },
  },
];
