import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'what @github/copilot 1.0.102 sends to its model';

/** The first name is its own; the other one is in reports of its users. */
const NAMES = ['copilot-cli', 'github-copilot-developer'];

export const profiles: readonly HostProfile[] = [
  {
    name: 'copilot-cli-1.0.87',
    title: 'GitHub Copilot CLI up to 1.0.87',
    match: { names: NAMES, versions: '<1.0.88' },
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
  {
    name: 'copilot-cli',
    title: 'GitHub Copilot CLI',
    match: { names: NAMES },
    behaviour: {
      structured: { is: 'both', source: `${SOURCE}: the texts, then the JSON` },
      images: { is: { reach: 'nothing' }, source: `${SOURCE}: only texts, to each kind of service that it knows` },
      links: { is: 'dropped', source: SOURCE },
      blobs: { is: 'dropped', source: `${SOURCE}: only a PDF arrives, and not by chat completions` },
      errors: { is: 'text', source: SOURCE },
      joined: { is: true, source: SOURCE },
      text: { is: { most: 20_480, unit: 'bytes', per: 'result', over: 'saved' }, source: SOURCE },
      opensPages: { is: false, source: 'its users: a page that it is asked to open is not shown' },
      user: { is: 'text', source: 'it prints the size of an image' },
      terminal: { is: true, source: 'its model has the tool bash' },
    },
  },
];
