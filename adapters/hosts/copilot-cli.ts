import type { HostProfile } from '../../gateway/ports/host.js';

export const profiles: readonly HostProfile[] = [
  {
    name: 'copilot-cli',
    title: 'GitHub Copilot CLI',
    match: { names: ['github-copilot-developer'] },
    behaviour: {
      structured: { is: 'both', source: 'reports of its users, versions 1.0.80 to 1.0.87' },
      images: { is: { reach: 'nothing' }, source: 'github/copilot-cli #4536' },
      links: { is: 'unknown', source: 'nothing found' },
      blobs: { is: 'dropped', source: 'github/copilot-cli #4916: the blob of a text arrives empty' },
      errors: { is: 'unknown', source: 'nothing found' },
      text: { is: { most: 10_240, unit: 'bytes', per: 'result', over: 'saved' }, source: 'reports of its users' },
      opensPages: { is: false, source: 'its users: a page that it is asked to open is not shown' },
      user: { is: 'text', source: 'it runs in a terminal' },
      terminal: { is: true, source: 'it runs in a terminal' },
    },
  },
];
