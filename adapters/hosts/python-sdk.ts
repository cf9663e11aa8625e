import type { HostProfile } from '../../gateway/ports/host.js';

const LIBRARIES = 'langchain_mcp_adapters/tools.py of langchain-ai/langchain-mcp-adapters @cc0f284';

/** What a library on the Python SDK that sends its default name does at its worst: which of them it is cannot be known. */
export const profiles: readonly HostProfile[] = [
  {
    name: 'python-sdk',
    title: 'a library on the Python SDK',
    match: { names: ['mcp'] },
    behaviour: {
      structured: { is: 'both', source: 'each library has its own way' },
      images: { is: { reach: 'model' }, source: 'each library has its own way' },
      links: {
        is: 'fetched',
        source: `${LIBRARIES}: a file or an image with a URL, for which the models of OpenAI and Anthropic throw`,
      },
      blobs: { is: 'unknown', source: 'each library has its own way' },
      errors: { is: 'unknown', source: 'each library has its own way' },
      user: { is: 'answer', source: 'they are libraries for agents' },
    },
  },
];
