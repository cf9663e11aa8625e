import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'packages/core/src/tools/mcp-tool.ts of google-gemini/gemini-cli @5411f11';

export const profiles: readonly HostProfile[] = [
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    match: { names: ['gemini-cli-mcp-client*'] },
    behaviour: {
      structured: { is: 'content', source: `${SOURCE}: transformMcpContentToParts` },
      images: {
        // of inlineData of another type its service refuses the whole request
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'] },
        source: `${SOURCE}: inlineData; the types that the Gemini API documents`,
      },
      links: { is: 'text', source: `${SOURCE}: "Resource Link: title or name at uri"` },
      blobs: {
        is: 'unchecked',
        source: `${SOURCE}: inlineData of any type; utils/generateContentResponseUtilities.ts strips sound and films`,
      },
      errors: {
        is: 'string',
        source: `${SOURCE}: safeJsonStringify of all of it; 73,000 characters of base64 were seen`,
      },
      meta: { is: 'errors', source: `${SOURCE}: the whole response of the tool is in that text` },
      text: {
        is: { most: 40_000, unit: 'characters', per: 'block', over: 'saved' },
        source: 'packages/core/src/scheduler/tool-executor.ts @5411f11: a result of one text',
      },
      user: { is: 'text', source: `${SOURCE}: an image is "[Image: type]"` },
      terminal: { is: true, source: 'it runs in a terminal' },
    },
  },
];
