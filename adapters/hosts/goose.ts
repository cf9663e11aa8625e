import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'crates/goose/src/providers/formats/openai.rs of aaif-goose/goose @03b9008';

export const profiles: readonly HostProfile[] = [
  {
    name: 'goose',
    title: 'Goose',
    match: { names: ['goose-desktop', 'goose-cli'] },
    behaviour: {
      structured: { is: 'content', source: SOURCE },
      images: {
        is: {
          reach: 'model',
          types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
          // 2 MB of base64: a request of 9 MB holds those of four results
          bytesPerResult: 1_500_000,
        },
        source:
          `${SOURCE}: in a message of their own; aaif-goose/goose #6714: sent again with each turn, until the request ` +
          'is too long',
      },
      links: { is: 'dropped', source: SOURCE },
      blobs: { is: 'named', source: 'extract_text_from_resource: bytes that are no UTF-8 become their type and size' },
      embeddedTexts: { is: 'pages', source: 'documentation/docs/guides/interactive-chat/mcp-ui.md: Goose Desktop' },
      errors: { is: 'content', source: `${SOURCE}: isError is not looked at` },
      text: {
        is: { most: 100_000, unit: 'characters', per: 'block', over: 'saved' },
        source:
          'crates/goose/src/agents/large_response_handler.rs @03b5601: 200,000 of one block; some versions cut from 100,000',
      },
      user: { is: 'blocks', source: 'aaif-goose/goose #2629' },
      terminal: { is: true, source: 'its developer extension runs commands' },
    },
  },
];
