import type { HostProfile } from '../../../gateway/ports/host.js';

const SOURCE = 'libs/langchain-mcp-adapters/src/tools.ts of langchain-ai/langchainjs, 1.1.4';
const MODELS = '@langchain/openai 1.6.0 and @langchain/anthropic 1.5.11';
const PYTHON = 'langchain_mcp_adapters/tools.py of langchain-ai/langchain-mcp-adapters @cc0f284';

export const profiles: readonly HostProfile[] = [
  {
    name: 'langchain',
    title: 'LangChain',
    // in Python it sends the default name of the SDK, as many others do: an operator says where it is (`like: langchain`)
    match: { names: ['@langchain/mcp-adapters'] },
    behaviour: {
      structured: {
        is: 'content',
        source: `${SOURCE}: the JSON goes into the artifact, which no model gets; into the content too beside a single text`,
      },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: `${SOURCE}, in its own size; the types and the edge that every model service takes`,
      },
      links: {
        is: 'fetched',
        source: `${SOURCE} and ${PYTHON}: a file or an image with a URL; ${MODELS} throw, or let the service fetch it`,
      },
      embeddedTexts: { is: 'dropped', source: `${SOURCE}: they go into the artifact, which no model gets` },
      blobs: { is: 'dropped', source: `${SOURCE}: they go into the artifact; ${PYTHON}: a file of any type` },
      errors: { is: 'text', source: SOURCE },
      keywords: {
        is: 'refused',
        source:
          '@langchain/google-genai 2.3.2 sends each keyword in `parameters`, and Gemini answers 400: google-gemini/gemini-cli #2237',
      },
      user: { is: 'answer', source: 'it is a library for agents' },
    },
  },
];
