import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'packages/core/src/tools/mcp-tool.ts of google-gemini/gemini-cli';

export const profiles: readonly HostProfile[] = [
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    match: { names: ['gemini-cli-mcp-client*'] },
    behaviour: {
      structured: { is: 'content', source: SOURCE },
      images: { is: { reach: 'model' }, source: `${SOURCE}: inlineData` },
      links: { is: 'text', source: `${SOURCE}: "Resource Link: name at uri"` },
      blobs: { is: 'shown', source: `${SOURCE}: inlineData of any type` },
      errors: { is: 'string', source: `${SOURCE}: 73,000 characters of base64 were seen` },
      text: { is: { most: 40_000, unit: 'characters', over: 'saved' }, source: SOURCE },
      user: { is: 'text', source: `${SOURCE}: an image is "[Image: type]"` },
      terminal: { is: true, source: 'it runs in a terminal' },
    },
  },
];
