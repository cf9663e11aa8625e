import { createServer, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { addDoctorCommand } from '../../../gateway/commands/doctor-command.js';
import type { Config } from '../../../gateway/config/config.js';
import type { Check } from '../../../gateway/doctor/check.js';
import { GROUPS } from '../../../gateway/doctor/doctor.js';
import { issuerChecks } from '../../../gateway/doctor/issuers.js';
import { machineChecks } from '../../../gateway/doctor/machine.js';
import { portChecks } from '../../../gateway/doctor/ports.js';
import { reachChecks } from '../../../gateway/doctor/reach.js';
import { stateChecks } from '../../../gateway/doctor/stores.js';
import type { OAuth } from '../../../gateway/ports/oauth.js';
import type { AboutStore, StateStore } from '../../../gateway/ports/state-store.js';
import { close, listen } from '../../helpers/loopback.js';

const { signal } = new AbortController();
const clock = { now: () => Date.now(), ticks: () => performance.now() };

const run = async (checks: readonly Check[], title: string) => checks.find((one) => one.title === title)?.run(signal);

describe('the doctor, of a state store,', () => {
  const state = create(settings.parse({}), { clock, sharing: UNSHARED });
  const found = (store: Partial<StateStore>, title: string, counts = true) =>
    run(
      stateChecks(async () => ({ ...state, ...store }), counts),
      title,
    );
  const about = (more: Partial<AboutStore>) => {
    const facts = { version: 'Redis 8', evicts: undefined, maxMemory: undefined, isLasting: true, now: Date.now() };
    return found({ about: async () => ({ ...facts, ...more }) as AboutStore }, 'settings');
  };

  it('sees a key that outlives its time', async () => {
    await expect(found({ read: async () => '4' }, 'create, read, expire and remove')).rejects.toThrow('outlived');
  });

  it('sees a limit that is not kept, where callers have one', async () => {
    const tally = async () => ({ isWithin: true, total: 1 });
    await expect(found({ tally }, 'what callers have used')).rejects.toThrow('it says otherwise');
    expect(await found({ tally }, 'what callers have used', false)).toMatchObject({ state: 'skipped' });
  });

  it('warns of a clock that differs by more than half a minute, in either direction', async () => {
    expect(await about({})).toMatchObject({ state: 'ok' });
    for (const skew of [-40_000, 40_000])
      expect(await about({ now: Date.now() + skew })).toMatchObject({
        state: 'warning',
        todo: expect.stringContaining('NTP'),
      });
  });

  it('warns where what was written last is lost, and calls lost files a fault where memory is bounded', async () => {
    expect(await about({ isLasting: false })).toMatchObject({ state: 'warning' });
    expect(await about({ evicts: 'allkeys-lru' })).toMatchObject({ state: 'warning' });
    expect(await about({ evicts: 'allkeys-lru', maxMemory: 1e9 })).toMatchObject({ state: 'failed' });
  });
});

describe('the doctor, of a machine,', () => {
  const checks = (fits: { sockets: number; processes: number }, file = 1) => {
    const limits = { sockets: 100, file };
    const servers = [
      { name: 'ocr', transport: 'stdio', limits: { processes: 10 } },
      { name: 'web', transport: 'streamable-http', limits: { processes: 99 } },
    ];
    const config = { limits, servers, objects: { settings: { path: '/' } }, audit: { settings: {} } };
    return machineChecks(config as unknown as Config, fits);
  };

  it('counts open files for connections, and for the processes of each stdio server', async () => {
    expect(await run(checks({ sockets: 100, processes: 10 }), 'open files')).toMatchObject({ state: 'ok' });
    expect(await run(checks({ sockets: 99, processes: 10 }), 'open files')).toMatchObject({
      state: 'warning',
      text: expect.stringContaining('99 of limits.sockets = 100'),
    });
    expect(await run(checks({ sockets: 100, processes: 9 }), 'open files')).toMatchObject({
      state: 'warning',
      text: expect.stringMatching(/9 of limits\.processes = 10 for ocr$/),
    });
  });

  it('wants room for ten files of the largest size', async () => {
    const fits = { sockets: 100, processes: 10 };
    expect(await run(checks(fits), 'disk of temporary files')).toMatchObject({ state: 'ok' });
    expect(await run(checks(fits, 1e17), 'disk of temporary files')).toMatchObject({
      state: 'warning',
      text: expect.stringContaining('less than 10 times limits.file'),
    });
  });

  it('calls only that port a fault which the config has chosen', () => {
    const address = { host: '127.0.0.1', port: 0 };
    const config = { listen: address, adminListen: address, sources: new Map([['listen', 'file']]) };
    const ports = portChecks(config as never, () => Promise.reject(new Error('not opened')));
    expect(ports.map(({ title, isMinor }) => [title, isMinor])).toEqual([
      ['listen', false],
      ['adminListen', true],
    ]);
  });
});

describe('the doctor, of an issuer,', () => {
  const PKCE = { code_challenge_methods_supported: ['S256'] };
  const found = (metadata: object, date: number, publicUrl?: string) => {
    const oauth = { metadata: async () => metadata, keys: async () => ({ count: 1, date }) };
    const issuer = 'https://id.example';
    const grants = { tokenExchange: { issuer }, perUser: { issuer } };
    const auth = { use: 'jwt', jwt: { issuers: [{ issuer, audiences: [] }] } };
    const config = { auth, servers: [{ name: 'crm', upstreamAuth: grants }], publicUrl };
    return issuerChecks(config as unknown as Config, async () => oauth as unknown as OAuth);
  };

  it('warns of a clock that differs by more than half a minute', async () => {
    const metadata = { ...PKCE, registration_endpoint: 'https://id.example/register' };
    expect(await run(found(metadata, Date.now()), 'id.example')).toMatchObject({ state: 'ok' });
    for (const skew of [-40_000, 40_000])
      expect(await run(found(metadata, Date.now() + skew), 'id.example')).toMatchObject({ state: 'warning' });
  });

  it('sees that it lists its grants without token exchange', async () => {
    const title = 'exchange for crm';
    const grants = ['authorization_code'];
    await expect(run(found({ grant_types_supported: grants }, 0), title)).rejects.toThrow('does not list');
    expect(await run(found({}, 0), title)).toMatchObject({ state: 'ok' });
  });

  it('sees what people could not log in with: no PKCE, or no way to know Wharf', async () => {
    const title = 'logins for crm';
    const ends = { authorization_endpoint: 'https://id.example/a', token_endpoint: 'https://id.example/t' };
    await expect(run(found(ends, 0), title)).rejects.toThrow('PKCE with S256');
    const documents = { ...ends, ...PKCE, client_id_metadata_document_supported: true };
    expect(await run(found(documents, 0, 'https://w.example'), title)).toMatchObject({ state: 'ok' });
    // only an https address names a document
    await expect(run(found(documents, 0, 'http://w.example'), title)).rejects.toThrow('set clientId');
  });
});

describe('the doctor, of publicUrl,', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => close(server))));
  const found = async (title: string, isOwn: boolean, answer: RequestListener) => {
    const server = createServer(answer);
    servers.push(server);
    const port = await listen(server);
    const place = { token: 'token', isOwn, close: async () => {} };
    return run(
      reachChecks({ publicUrl: `http://127.0.0.1:${port}` }, async () => place),
      title,
    );
  };

  it('takes a Wharf for its own only while it has not taken its place itself', async () => {
    const other: RequestListener = (_, response) => response.end('{"error":{"code":"route_unknown"}}');
    expect(await found('leads to Wharf', false, other)).toMatchObject({ state: 'ok' });
    await expect(found('leads to Wharf', true, other)).rejects.toThrow('something else answers');
  });

  it('sees that a proxy passes on less of a body than it was sent, although it says 200', async () => {
    const short: RequestListener = (request, response) => request.resume().on('end', () => response.end('1'));
    await expect(found('large requests', true, short)).rejects.toThrow('gets HTTP 200');
  });
});

it('the help of the doctor names every group that --only takes', () => {
  const program = new Command();
  addDoctorCommand(program, [], () => undefined);
  const help = program.commands[0]?.helpInformation().replaceAll(/\s+/g, ' ');
  expect(help).toContain(`only these checks: ${GROUPS.join(', ')}; may be repeated`);
});
