import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'src/core/tools/UseMcpToolTool.ts of RooCodeInc/Roo-Code @ce45c97';

export const profiles: readonly HostProfile[] = [
  {
    name: 'roo-code',
    title: 'Roo Code',
    match: { names: ['Roo Code'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: only the content` },
      images: { is: { reach: 'nothing' }, source: SOURCE },
      links: { is: 'dropped', source: SOURCE },
      blobs: { is: 'named', source: `${SOURCE}: a resource is JSON without its blob` },
      errors: { is: 'content', source: `${SOURCE}: like every other result, below a word` },
      user: { is: 'text', source: `${SOURCE}: the text that its model gets` },
      terminal: { is: true, source: 'its model has the tool execute_command' },
    },
  },
];
