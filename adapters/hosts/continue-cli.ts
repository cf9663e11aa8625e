import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'src/tools/index.tsx of @continuedev/cli 1.5.47';

const EXTENSION = 'core/tools/callTool.ts of continuedev/continue and of its forks';

export const profiles: readonly HostProfile[] = [
  {
    name: 'continue-cli',
    title: 'Continue CLI',
    match: { names: ['continue-cli-client'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: only the content` },
      images: { is: { reach: 'json' }, source: `${SOURCE}: the content as one JSON text, base64 and all` },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: SOURCE },
      errors: { is: 'content', source: `${SOURCE}: isError is not looked at` },
      user: { is: 'answer', source: 'it prints what the model answers' },
      terminal: { is: true, source: 'its model has the tool Bash' },
    },
  },
  {
    name: 'continue',
    title: 'Continue in an editor',
    match: { names: ['continue-client'] },
    behaviour: {
      structured: { is: 'content', source: `${EXTENSION}: only the content` },
      images: { is: { reach: 'nothing' }, source: `${EXTENSION}: a text that it cannot` },
      links: { is: 'refused', source: `${EXTENSION}: a text that it cannot` },
      blobs: { is: 'dropped', source: `${EXTENSION}: a text that it cannot` },
      errors: { is: 'string', source: `${EXTENSION}: the content as JSON` },
      user: { is: 'answer', source: 'it folds what its tools return' },
    },
  },
];
