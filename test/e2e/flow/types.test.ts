import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const table = (name: string, rows: number) => Buffer.from(`name,amount\n${`${name},1\n`.repeat(rows)}`);
const base64 = (bytes: Buffer) => bytes.toString('base64');

/** What a server gives, none of which says by its bytes what it is: cut, left in its message, and in a JSON text. */
const GIVEN: Record<string, { bytes: Buffer; write: (data: string) => object }> = {
  long: {
    bytes: table('long', 10_000),
    write: (blob) => ({ type: 'resource', resource: { uri: 'a://b.csv', mimeType: 'text/csv', blob } }),
  },
  short: {
    bytes: table('short', 20),
    write: (blob) => ({ type: 'resource', resource: { uri: 'a://b.csv', mimeType: 'Text/CSV; header=present', blob } }),
  },
  nested: {
    bytes: table('nested', 20),
    write: (data) => ({ type: 'text', text: JSON.stringify({ table: `data:text/csv;base64,${data}` }) }),
  },
};

const TAKE = { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } };

let giving: RecordingUpstream;
let taking: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  giving = await RecordingUpstream.start({
    tools: Object.keys(GIVEN).map((name) => ({ name, inputSchema: { type: 'object' } })),
    methods: {
      'tools/call': ({ name }) => {
        const { bytes, write } = GIVEN[String(name)] as (typeof GIVEN)[string];
        return { content: [write(base64(bytes))] };
      },
    },
  });
  taking = await RecordingUpstream.start({ tools: [TAKE] });
  const files = { tools: { take: { files: { file: { encoding: 'base64' } } } } };
  const to = { url: taking.url, transport: 'streamable-http', ...files };
  wharf = await startWharf({
    servers: { hr: { url: giving.url, transport: 'streamable-http' }, web: to, archive: to },
    config: {
      flow: [
        { deny: { from: 'hr', to: 'web', types: ['text/csv'] } },
        { allow: { from: 'hr', to: 'archive', types: ['text/plain'] } },
        { deny: { from: 'hr', to: 'archive' } },
      ],
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await giving?.stop();
  await taking?.stop();
});

const client = (server: string) => RawClient.connect(`${wharf.url}/${server}/mcp`);

/** Whether a server gets these bytes under a name of the caller's. */
async function reaches(server: string, bytes: Buffer, mimeType = 'text/plain'): Promise<boolean> {
  const before = taking.with('tools/call').length;
  await (await client(server)).call('take', { file: `data:${mimeType};base64,${base64(bytes)}` });
  return taking.with('tools/call').length > before;
}

describe('A rule about types', () => {
  it.each(Object.keys(GIVEN))('means what its server called a file, whatever the caller calls it: %s', async (name) => {
    const { bytes } = GIVEN[name] as (typeof GIVEN)[string];
    expect(await reaches('web', bytes)).toBe(true);
    expect(await reaches('archive', bytes)).toBe(true);
    await (await client('hr')).call(name);
    expect(await reaches('web', bytes)).toBe(false);
    expect(await reaches('web', bytes, 'application/octet-stream')).toBe(false);
    expect(await reaches('archive', bytes)).toBe(false);
  });
});
