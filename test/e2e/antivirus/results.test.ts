import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { redactFields } from '../../../gateway/redact.js';
import { sha256 } from '../../helpers/bytes.js';
import { filesystemStores } from '../../helpers/fault-stores.js';
import { EICAR, MARKER, OwnClamd } from '../../helpers/own-clamd.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced } from '../files/handoff-lab.js';
import { counted, large, RESULTS, startServer } from './lab.js';

const CLEAN = Buffer.from('A perfectly harmless file, which is long enough for the antivirus to be asked about it.');

let clamd: OwnClamd;
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  clamd = await OwnClamd.start();
  server = await startServer();
});

afterAll(async () => {
  await server?.upstream.stop();
  await clamd?.stop();
});

describe.each(STORES)('A server gives an infected file, stored in %s,', (stores) => {
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    const { servers } = server;
    wharf = await startWharf({ servers, stores, config: { antivirus: clamd.config } });
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(() => wharf?.stop());

  describe.each(Object.keys(RESULTS).filter((name) => name !== 'pair'))('in the place %s', (place) => {
    it.each([
      ['so short that it would stay in the message', EICAR, 'Wharf.Test.Eicar.UNOFFICIAL'],
      ['so long that it is cut', large(MARKER), 'Wharf.Test.Marker.UNOFFICIAL'],
    ])('%s: the client gets an error and none of its bytes', async (_, bytes, signature) => {
      server.gives(bytes);
      const { error, result, answer } = await client.call(place);
      expect(result).toBeUndefined();
      expect(error).toMatchObject({ data: { code: 'file_infected', signature } });
      expect(error?.message).toContain('The file is removed');
      expect(answer.text).not.toContain(bytes.toString('base64').slice(0, 60));
    });

    it('and a clean one as without an antivirus', async () => {
      server.gives(CLEAN);
      expect((await client.call(place)).result).toEqual(RESULTS[place]?.(CLEAN));
    });
  });

  it('as a resource that would pass byte for byte: the client gets an error', async () => {
    server.gives(EICAR);
    const { error } = await client.request('resources/read', { uri: 'doc://a' });
    expect(error).toMatchObject({ data: { code: 'file_infected' } });
  });

  it.each([
    ['get_file_link', 'handle'],
    ['take', 'file'],
  ])(
    'as a resource that it only names, read for %s: the antivirus has refused it, and not the server',
    async (tool, name) => {
      server.gives(EICAR);
      const { uri } = announced((await client.call('link')).result);
      const { error, result } = await client.call(tool, { [name]: uri });
      const told = JSON.stringify(error ?? result);
      expect(told).toContain('The antivirus has found Wharf.Test.Eicar.UNOFFICIAL');
      expect(told).not.toMatch(/something invalid|was refused/);
      if (error) expect(error).toMatchObject({ data: { code: 'file_infected' } });
    },
  );

  it('and the clean file of the next call has a link', async () => {
    server.gives(large(CLEAN));
    const { result } = await client.call('image');
    const file = announced(result);
    const answer = await fetch(String(file.url));
    expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(large(CLEAN)));
  });

  it('and it is logged and counted, without its bytes', async () => {
    const before = await counted(wharf.adminUrl, 'infected');
    server.gives(large(MARKER));
    await client.call('image');
    expect(await counted(wharf.adminUrl, 'infected')).toBe(before + 1);
    const line = wharf.lines.filter(({ text }) => text === 'an infected file was refused').at(-1);
    expect(redactFields({ ...line?.fields })).toMatchObject({
      principal: 'anonymous',
      server: 'lab',
      virus: 'Wharf.Test.Marker.UNOFFICIAL',
    });
    expect(wharf.logged()).not.toContain(MARKER.toString());
  });
});

describe('A clean file and an infected one in one result', () => {
  it('are both removed: the message is an error, and nothing of it is acknowledged (G17)', async () => {
    const servers = { lab: { url: server.upstream.url, transport: 'streamable-http' } };
    const stores = await filesystemStores();
    const config = { ...stores.config, antivirus: clamd.config };
    const wharf = await startWharf({ servers, config });
    const client = await RawClient.connect(wharf.mcp);
    server.gives(large(MARKER));
    const { error } = await client.call('pair');
    expect(error).toMatchObject({ data: { code: 'file_infected' } });
    await until(async () => (await stores.objects()).length === 0);
    // what could be looked for was there
    server.gives(large(CLEAN));
    expect((await client.call('pair')).error).toBeUndefined();
    expect(await stores.objects()).not.toEqual([]);
    await wharf.stop();
    await stores.close();
  });
});
