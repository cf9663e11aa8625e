import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'src/tools/index.tsx of @continuedev/cli 1.5.47';

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
];
