import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'src/vs/workbench/contrib/mcp/common/mcpLanguageModelToolContribution.ts of microsoft/vscode @027907c';
const PROMPT = 'src/extension/prompts/node/panel/toolCalling.tsx of microsoft/vscode-copilot-chat @31acd00';

export const profiles: readonly HostProfile[] = [
  {
    name: 'vscode',
    title: 'VS Code',
    match: { names: ['Visual Studio Code*', 'Code - OSS*'] },
    behaviour: {
      structured: { is: 'without-text', source: `${SOURCE}; in errors too` },
      images: {
        is: {
          reach: 'model',
          types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
          bytesPerResult: (5 * 1024 * 1024) / 2,
        },
        source: `${SOURCE}: resized by the host; ${PROMPT}: imageSizeBudgetLeft`,
      },
      links: {
        is: 'read',
        source: `${SOURCE}: an image whose read fails becomes an empty picture; ${PROMPT}: 500 lines of anything else`,
      },
      blobs: { is: 'decoded', source: `${PROMPT}: McpLinkedResourceToolResult; sound does not arrive` },
      errors: { is: 'content', source: SOURCE },
      text: {
        is: { most: 8192, unit: 'bytes', per: 'block', over: 'saved' },
        source: `${PROMPT}: onText, largeToolResultsToDisk.thresholdBytes`,
      },
      user: { is: 'blocks', source: `${SOURCE}; microsoft/vscode #293679: once the tool row is opened` },
    },
  },
];
