import type { HostProfile } from '../../gateway/ports/host.js';

const SOURCE = 'what cline 3.0.65 (@cline/core 0.0.86) sends to its model';

const EXTENSION = 'src/core/task/tools/handlers/UseMcpToolHandler.ts of cline/cline @0124210';

export const profiles: readonly HostProfile[] = [
  {
    name: 'cline',
    title: 'Cline CLI',
    match: { names: ['@cline/core'] },
    behaviour: {
      structured: { is: 'both', source: `${SOURCE}: the whole result as one text` },
      images: { is: { reach: 'json' }, source: `${SOURCE}: the whole result as one text, base64 and all` },
      links: { is: 'json', source: SOURCE },
      blobs: { is: 'json', source: SOURCE },
      errors: { is: 'string', source: `${SOURCE}: isError is a member of the text` },
      meta: { is: 'results', source: `${SOURCE}: the whole result as one text` },
      text: {
        is: { most: 7000, unit: 'characters', per: 'result', over: 'cut' },
        source: `${SOURCE}: the first and the last 4000 characters of that text, in which a line break is two`,
      },
      user: { is: 'answer', source: 'it prints the first words of a result, and what the model answers' },
      terminal: { is: true, source: 'its model has the tool run_commands' },
    },
  },
  {
    name: 'cline-extension',
    title: 'Cline in an editor',
    match: { names: ['Cline'] },
    behaviour: {
      structured: { is: 'content', source: `${EXTENSION}: only the content` },
      images: {
        is: { reach: 'model', types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'], mostEdge: 8000 },
        source: `${EXTENSION}: where its model takes them, else their number; the types that every model service takes; the edge that is refused: cline/cline #3308`,
      },
      links: { is: 'dropped', source: EXTENSION },
      blobs: { is: 'named', source: `${EXTENSION}: a resource is JSON without its blob` },
      errors: { is: 'content', source: `${EXTENSION}: like every other result, below a word` },
      user: { is: 'blocks', source: `${EXTENSION}: images behind the text` },
      terminal: { is: true, source: 'its model has the tool execute_command' },
    },
  },
];
