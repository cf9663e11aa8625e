import { randomBytes } from 'node:crypto';
import { adapters as shipped } from '../../adapters/index.js';
import type { AdapterList } from '../../gateway/config/adapter-list.js';
import { ERAS, eraOf } from '../../gateway/mcp/era.js';
import { sha256Url } from '../helpers/bytes.js';
import { RawClient } from '../helpers/raw-client.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';
import { askedCall } from './asked-call.js';
import { CLIENTS, type ClientClass, type Sample, withHostedFiles } from './clients.js';
import { GIVING, type RunningServer, type ServerKind, TAKING } from './servers.js';

/** The revisions on which a result may contain a link. */
export const VERSIONS = ERAS.filter(({ hasResourceLinks }) => hasResourceLinks).map(({ version }) => version);
export type Version = string;

/** One client class in front of one kind of server, in one direction. */
export interface Cell {
  client: ClientClass;
  server: ServerKind;
  direction: 'to the server' | 'to the client';
}

const ALL: readonly Cell[] = CLIENTS.flatMap((client) => [
  ...TAKING.map((server) => ({ client, server, direction: 'to the server' }) as const),
  ...GIVING.map((server) => ({ client, server, direction: 'to the client' }) as const),
]);

/** The cells that a gateway with these dialects has to serve. */
export function cellsWith(dialects: readonly { name: string }[]): readonly Cell[] {
  const has = ({ needs }: { needs?: string }) => needs === undefined || dialects.some(({ name }) => name === needs);
  return ALL.filter(
    ({ client, server }) => has(client) && has(server) && (server.asks === undefined || has(client.asked)),
  );
}

export const CELLS = cellsWith(shipped.dialects);

const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');

/** The revisions on which a cell is served: some clients can be asked only on later ones. */
export function versionsOf({ client, server }: Cell): readonly Version[] {
  const { since = '' } = server.asks ? client.asked : {};
  return VERSIONS.filter((version) => version >= since);
}

/** Larger than any inline limit of results, smaller than what may go inside a call. */
function sample(): Sample {
  return { name: 'sample.png', mimeType: 'image/png', bytes: Buffer.concat([PNG_HEAD, randomBytes(700_000)]) };
}

/** One gateway in front of every kind of server. */
export interface Lab {
  wharf: Wharf;
  servers: ReadonlyMap<ServerKind, { name: string; file: Sample; running: RunningServer }>;
  stop(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  const { dialects } = shipped;
  const kinds = new Set(CELLS.map(({ server }) => server));
  const servers = new Map<ServerKind, { name: string; file: Sample; running: RunningServer }>();
  for (const [index, kind] of [...kinds].entries()) {
    const file = sample();
    servers.set(kind, { name: `s${index}`, file, running: await kind.start(file) });
  }
  const settings = [...servers.values()].map(({ name, running }) => {
    const { upstream, tools } = running;
    return [name, { url: upstream.url, transport: 'streamable-http', ...(tools && { tools }) }] as const;
  });
  const clients = CLIENTS.flatMap(({ about, needs, byProfile }) =>
    byProfile && dialects.some(({ name }) => name === needs)
      ? [{ match: { name: String(about.name) }, dialects: [needs] }]
      : [],
  );
  const wharf = await startWharf({
    servers: Object.fromEntries(settings),
    // what is handed over is not a picture, and a process would have to be started to find that out
    config: { clients, previews: { use: 'none' } },
    adapters: withFakeInternet(shipped),
  });
  const stop = async () => {
    await wharf.stop();
    for (const { running } of servers.values()) await running.upstream.stop();
  };
  return { wharf, servers, stop };
}

/**
 * Moves one file through the gateway.
 * @throws Error when the bytes at the far end are not the ones that were handed over
 */
export async function run({ client: kind, server, direction }: Cell, version: Version, lab: Lab): Promise<void> {
  const known = lab.servers.get(server);
  if (!known) throw new Error(`${server.name} is not running`);
  const { name, file, running } = known;
  const url = `${lab.wharf.url}/${name}/mcp`;
  const { asked } = kind;
  const about = server.asks
    ? { ...kind.about, capabilities: { ...kind.about.capabilities, ...asked.capabilities } }
    : kind.about;
  const client = eraOf(version).hasSessions
    ? await RawClient.connect(url, version, about)
    : RawClient.stateless(url, version, about);
  await client.request('tools/list');
  const far =
    direction === 'to the server'
      ? await hand({ ...kind, isAsked: server.asks }, client, file, running)
      : await take(kind, client);
  if (sha256Url(far) !== sha256Url(file.bytes)) throw new Error(`${far.length} other bytes arrived`);
}

async function hand(
  { give, asked, isAsked }: ClientClass & { isAsked: true | undefined },
  client: RawClient,
  file: Sample,
  server: { received(): Promise<Buffer> },
): Promise<Buffer> {
  const args = isAsked ? {} : { file: await give(client, file) };
  const { result, error } = await askedCall(client, 'take', args, (params) => asked.answer(params, file));
  if (!result || result.isError) throw new Error(`refused: ${JSON.stringify(result?.content ?? error).slice(0, 300)}`);
  return server.received();
}

async function take(kind: ClientClass, client: RawClient): Promise<Buffer> {
  const { result, error } = await client.call('give');
  if (!result || result.isError) throw new Error(`refused: ${JSON.stringify(result?.content ?? error).slice(0, 300)}`);
  return kind.fetch(client, result);
}

function withFakeInternet(adapters: AdapterList): AdapterList {
  const { https } = adapters.transfer;
  const create: typeof https.create = async (settings, deps) => withHostedFiles(await https.create(settings, deps));
  return { ...adapters, transfer: { https: { ...https, create } } };
}
