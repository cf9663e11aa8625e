import type { HostProfile } from '../../gateway/ports/host.js';

export const profiles: readonly HostProfile[] = [
  {
    name: 'claude-desktop',
    title: 'Claude Desktop and claude.ai',
    match: { names: ['claude-ai'] },
    behaviour: {
      structured: { is: 'both', source: 'anthropics/claude-code #55677' },
      images: {
        is: {
          reach: 'model',
          types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
          mostEdge: 8000,
          // of 1 MiB of JSON, in base64, beside the longest text and what stands around the blocks
          bytesPerResult: 600_000,
        },
        source:
          'anthropics/claude-ai-mcp #643: in some versions not in the turn of the call; anthropics/claude-code #66519: ' +
          'a local server’s result of more than 1 MB is refused; the edge: ChromeDevTools/chrome-devtools-mcp #879',
      },
      links: { is: 'unknown', source: 'nothing found' },
      blobs: { is: 'unknown', source: 'nothing found' },
      errors: { is: 'unknown', source: 'nothing found' },
      text: {
        is: { most: 150_000, unit: 'characters', per: 'result', over: 'cut' },
        source: "its makers' documentation",
      },
      user: { is: 'blocks', source: 'anthropics/claude-ai-mcp #643: images are rendered' },
    },
  },
];
