import type { SlotPlace } from '../../../gateway/ports/dialect.js';

/** Every place where plain MCP results carry base64 (schema 2024-11-05 … 2026-07-28, `@format byte`). */
export const PLACES = [
  { name: 'mcp-inline/data', path: 'content[].data', holder: 'content[]', kind: 'content', encoding: 'base64' },
  {
    name: 'mcp-inline/blob',
    path: 'content[].resource.blob',
    holder: 'content[]',
    kind: 'content',
    encoding: 'base64',
  },
  {
    name: 'mcp-inline/text',
    path: 'content[].text',
    holder: 'content[]',
    kind: 'content',
    encoding: 'dataUri',
    isProse: true,
  },
  { name: 'mcp-inline/link', path: 'content[].uri', holder: 'content[]', kind: 'content', encoding: 'dataUri' },
  {
    name: 'mcp-inline/prompt-data',
    path: 'messages[].content.data',
    holder: 'messages[].content',
    kind: 'prompt',
    encoding: 'base64',
  },
  {
    name: 'mcp-inline/prompt-blob',
    path: 'messages[].content.resource.blob',
    holder: 'messages[].content',
    kind: 'prompt',
    encoding: 'base64',
  },
  {
    name: 'mcp-inline/prompt-text',
    path: 'messages[].content.text',
    holder: 'messages[].content',
    kind: 'prompt',
    encoding: 'dataUri',
  },
  {
    name: 'mcp-inline/prompt-link',
    path: 'messages[].content.uri',
    holder: 'messages[].content',
    kind: 'prompt',
    encoding: 'dataUri',
  },
  {
    name: 'mcp-inline/contents',
    path: 'contents[].blob',
    holder: 'contents[]',
    kind: 'resource',
    encoding: 'base64',
  },
] as const satisfies readonly SlotPlace[];
