import { hosts } from '../../adapters/hosts/index.js';
import type { HostProfile } from '../../gateway/ports/host.js';
import { REPLAYS, type Read } from '../helpers/host-code.js';
import { type Seen, seenByModel, seenByUser, type ToolResult } from '../helpers/host-model.js';
import { RawClient } from '../helpers/raw-client.js';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { noise, noisePng } from '../helpers/sdk-servers-bytes.js';
import { startWharf } from '../helpers/wharf.js';

const guess = <Value>(is: Value) => ({ is, source: 'the worst of the known hosts' });

/** A client that no profile knows, at its worst. */
const OTHER: HostProfile = {
  name: 'other',
  title: 'any other',
  match: { names: ['some-client'] },
  behaviour: {
    structured: guess('both'),
    images: guess({ reach: 'model' }),
    links: guess('text'),
    blobs: guess('json'),
    errors: guess('string'),
    user: guess('text'),
  },
};

export const PROFILES: readonly HostProfile[] = [...hosts, OTHER];

const PICTURE = noisePng(600).toString('base64');
const REPORT = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(100_000)]).toString('base64');
const LOG = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n');

const picture = { type: 'image', mimeType: 'image/png', data: PICTURE };
const report = {
  type: 'resource',
  resource: { uri: 'docs://files/report.pdf', mimeType: 'application/pdf', blob: REPORT },
};

/** The tools and what they return. */
const RESULTS = {
  image: { content: [picture] },
  PDF: { content: [report] },
  'long text': { content: [{ type: 'text', text: LOG }] },
  'error with an image': { isError: true, content: [{ type: 'text', text: 'It failed.' }, picture] },
  'image and PDF, structured': {
    content: [picture, report],
    structuredContent: { title: 'Report', picture: PICTURE, report: REPORT },
  },
} as const satisfies Record<string, ToolResult>;

export type Given = keyof typeof RESULTS;
export const GIVEN = Object.keys(RESULTS) as Given[];

/** One host and one result, with and without Wharf. */
export interface Cell {
  host: HostProfile;
  given: Given;
  before: { model: Seen; user: Seen };
  after: { model: Seen; user: Seen };
}

const TOOLS = GIVEN.map((name, index) => ({
  name: `tool_${index}`,
  description: name,
  inputSchema: { type: 'object' },
  ...('structuredContent' in RESULTS[name] && { outputSchema: { type: 'object' } }),
}));

/** A version that a range takes, and any other where there is none. */
function versionOf({ match: { versions = '' } }: HostProfile): string {
  const least = /^>=([\d.]+)/.exec(versions)?.[1];
  if (least !== undefined) return least;
  return versions === ''
    ? '99.0.0'
    : versions.replace(/^<(.*?)(\d+)$/, (_, head, last) => `${head}${Number(last) - 1}`);
}

/** Asks for each result as each host, through Wharf, and hands it to the model of the host. @param check of each */
export async function cells(check: (cell: Cell) => Promise<void>): Promise<Cell[]> {
  const upstream = await RecordingUpstream.start({
    methods: {
      'tools/list': () => ({ tools: TOOLS }),
      'tools/call': ({ name }) => ({ ...RESULTS[GIVEN[Number(String(name).slice(-1))] as Given] }),
    },
  });
  // a host that its name does not tell is what an operator says it is
  const clients = PROFILES.filter(({ match }) => match.names.length === 0).map(({ name }) => ({
    match: { name },
    like: name,
  }));
  const wharf = await startWharf({
    servers: { s: { url: upstream.url, transport: 'streamable-http' } },
    config: clients.length > 0 ? { clients } : {},
  });
  const made: Cell[] = [];
  try {
    for (const host of PROFILES) {
      const name = host.match.names[0]?.replace('*', '') ?? host.name;
      const about = { name, version: versionOf(host) };
      const client = await RawClient.connect(wharf.mcp, '2025-06-18', about);
      await client.request('tools/list');
      for (const [index, given] of GIVEN.entries()) {
        const { result } = await client.call(`tool_${index}`, {});
        const after = result as unknown as ToolResult;
        const cell = {
          host,
          given,
          before: seen(host, RESULTS[given], () => undefined),
          after: seen(host, after, await reader(client, after)),
        };
        await check(cell);
        made.push(cell);
      }
    }
  } finally {
    await wharf.stop();
    await upstream.stop();
  }
  return made;
}

function seen({ name, behaviour }: HostProfile, result: ToolResult, read: Read): Cell['before'] {
  const model = REPLAYS[name]?.(result, read) ?? seenByModel(behaviour, result);
  return { model, user: seenByUser(behaviour, result, model) };
}

/** The first content of everything that the result links to, as the server gives it. */
async function reader(client: RawClient, { content }: ToolResult): Promise<Read> {
  const read = new Map<string, ReturnType<Read>>();
  for (const { type, uri } of content) {
    if (type !== 'resource_link') continue;
    const { result } = await client.request('resources/read', { uri });
    read.set(String(uri), (result?.contents as { text?: string; blob?: string }[] | undefined)?.[0]);
  }
  return (uri) => read.get(uri);
}
