import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'the MCP client of open-webui/open-webui';

export const profiles: readonly HostProfile[] = [
  {
    name: 'open-webui',
    title: 'Open WebUI',
    // it sends the default name of the Python SDK, as many others do: an operator says where it is (`like: open-webui`)
    match: { names: [] },
    behaviour: {
      structured: { is: 'content', source: SOURCE },
      images: { is: { reach: 'nothing' }, source: 'open-webui/open-webui #30327: its page shows them' },
      links: { is: 'dropped', source: SOURCE },
      blobs: { is: 'named', source: `${SOURCE}: one line` },
      errors: { is: 'string', source: `${SOURCE}: the list of blocks is raised as text` },
      user: { is: 'blocks', source: 'open-webui/open-webui #30327' },
    },
  },
];
