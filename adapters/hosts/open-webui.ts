import type { HostProfile } from '../../gateway/ports/host.js';

const CLIENT = 'backend/open_webui/utils/mcp/client.py of open-webui/open-webui @04e8bc7';
const RESULT = 'process_tool_result in backend/open_webui/utils/middleware.py @000032e';

export const profiles: readonly HostProfile[] = [
  {
    name: 'open-webui',
    title: 'Open WebUI',
    // it sends the default name of the Python SDK, as many others do: an operator says where it is (`like: open-webui`)
    match: { names: [] },
    behaviour: {
      structured: { is: 'content', source: `${CLIENT}: call_tool returns the content` },
      images: { is: { reach: 'nothing' }, source: `${RESULT}: files of its page; open-webui/open-webui #30327` },
      links: { is: 'dropped', source: RESULT },
      embeddedTexts: { is: 'dropped', source: RESULT },
      blobs: { is: 'named', source: `${RESULT}: dropped, in newer versions one line` },
      errors: { is: 'string', source: `${CLIENT}: the list of blocks is raised as text` },
      user: { is: 'blocks', source: `${RESULT}: images and sound` },
    },
  },
];
