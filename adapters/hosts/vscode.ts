import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'mcpLanguageModelToolContribution.ts and mcpResourceFilesystem.ts of microsoft/vscode';

export const profiles: readonly HostProfile[] = [
  {
    name: 'vscode',
    title: 'VS Code',
    match: { names: ['Visual Studio Code*', 'Code - OSS*'] },
    behaviour: {
      structured: { is: 'without-text', source: `${SOURCE}; in errors too` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
        source: `${SOURCE}: resized by the host, 2.5 MiB in one prompt`,
      },
      links: { is: 'read', source: `${SOURCE}: an image link whose read fails becomes an empty picture` },
      blobs: {
        is: 'unknown',
        source: `${SOURCE}: images inline, anything else as a reference that the model may read`,
      },
      errors: { is: 'content', source: SOURCE },
      text: { is: { most: 8192, unit: 'bytes', over: 'saved' }, source: SOURCE },
      user: { is: 'blocks', source: `${SOURCE}; microsoft/vscode #293679: once the tool row is opened` },
    },
  },
];
