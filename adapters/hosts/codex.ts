import type { HostBehaviour, HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'codex-rs/protocol/src/models.rs of openai/codex, as_function_call_output_payload';

const COMMON: HostBehaviour = {
  structured: { is: 'without-content', source: `${SOURCE}; openai/codex #10334` },
  images: {
    is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], edge: 2048 },
    source: `${SOURCE}: convert_mcp_content_to_items`,
  },
  links: { is: 'json', source: `${SOURCE}: a block that is no text, image or audio is sent as JSON` },
  blobs: { is: 'json', source: `${SOURCE}: base64 as text` },
  errors: { is: 'content', source: `${SOURCE}: an error differs in success alone` },
  text: {
    is: { most: 40_000, unit: 'bytes', per: 'result', over: 'cut' },
    source:
      'openai/codex #14466: 10,000 tokens unless its user allows a tool more, of about four bytes each; of a model that ' +
      '0.171.0 does not know, 12,000 bytes, the later texts of a result left out whole',
  },
  user: { is: 'text', source: 'it runs in a terminal' },
  terminal: { is: true, source: 'it runs in a terminal' },
};

export const profiles: readonly HostProfile[] = [
  {
    name: 'codex-0.38',
    title: 'Codex up to 0.38',
    match: { names: ['codex-mcp-client'], versions: '<0.39' },
    behaviour: {
      ...COMMON,
      images: { is: { reach: 'json' }, source: 'the content array was sent as JSON, images and all' },
    },
  },
  {
    name: 'codex-0.154',
    title: 'Codex up to 0.154',
    match: { names: ['codex-mcp-client'], versions: '<0.155' },
    behaviour: COMMON,
  },
  {
    name: 'codex',
    title: 'Codex',
    match: { names: ['codex-mcp-client'] },
    behaviour: {
      ...COMMON,
      structured: {
        is: 'without-content',
        source: `what 0.171.0 sends to its model; ${SOURCE}: a later commit keeps media beside the JSON`,
      },
    },
  },
];
