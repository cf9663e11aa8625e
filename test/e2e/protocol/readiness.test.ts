import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import type { AdapterList } from '../../../gateway/config/adapter-list.js';
import type { Previewer } from '../../../gateway/ports/previewer.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { Issuer } from '../../helpers/issuer.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** Previews whose process never says whether it works. */
const silent: AdapterList = {
  ...adapters,
  previews: {
    ...adapters.previews,
    silent: {
      settings: adapters.previews.none?.settings as NonNullable<AdapterList['previews'][string]>['settings'],
      create: async (): Promise<Previewer> => ({
        takes: () => true,
        wholeUpTo: () => 0,
        name: 'silent',
        render: async () => ({ kind: 'refused', reason: 'busy' }),
        check: () => new Promise(() => {}),
        close: async () => {},
      }),
    },
  },
};

let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json' });
  const [nobody] = await freePorts(1);
  wharf = await startWharf({
    servers: {
      good: { url: fake.url },
      // a name of two addresses, so that two tries fail together
      probed: { url: `http://localhost:${nobody}/mcp` },
      named: { url: `http://localhost:${nobody}/mcp`, transport: 'streamable-http' },
      unknown: { url: 'http://nobody.invalid/mcp' },
      program: { command: ['/nowhere/server'] },
    },
    config: { previews: { use: 'silent' } },
    adapters: silent,
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

it.each(['/healthz', '/readyz', '/metrics'])('%s takes GET and HEAD alone, and says so', async (path) => {
  const ask = (method: string) => fetch(`${wharf.adminUrl}${path}`, { method });
  expect([(await ask('GET')).status, (await ask('HEAD')).status]).toEqual([200, 200]);
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const answer = await ask(method);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await answer.json()).toMatchObject({ error: { data: { code: 'method_not_allowed' } } });
  }
});

describe('a gateway whose servers are down, and whose previews are slow', () => {
  it('is ready, at once, and says of each what is wrong in words', async () => {
    const look = async () => {
      const answer = await fetch(`${wharf.adminUrl}/readyz`);
      return { status: answer.status, body: (await answer.json()) as { servers: Record<string, string> } };
    };
    let seen = await look();
    expect(seen.status).toBe(200);
    // looking up a name may take longer than a probe waits
    await until(async () => {
      seen = await look();
      return seen.body.servers.unknown !== 'not known yet';
    });
    expect(seen).toEqual({
      status: 200,
      body: {
        status: 'ready',
        parts: { objects: 'ok', state: 'ok' },
        previews: expect.stringMatching(/^(?:not known yet|no answer within 2 s)$/),
        servers: {
          good: 'ok',
          probed: 'connection refused',
          named: 'connection refused',
          unknown: 'its host name is not known',
          program: 'its command was not found',
        },
      },
    });
  });

  it('tells the causes to Prometheus too (R24)', async () => {
    const metrics = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    const lines = metrics.split('\n').filter((line) => line.startsWith('wharf_server_up{'));
    expect(lines.sort()).toEqual([
      'wharf_server_up{server="good"} 1',
      'wharf_server_up{server="named",cause="connection refused"} 0',
      'wharf_server_up{server="probed",cause="connection refused"} 0',
      'wharf_server_up{server="program",cause="its command was not found"} 0',
      'wharf_server_up{server="unknown",cause="its host name is not known"} 0',
    ]);
  });

  it('says in its metrics which version runs, and how many sessions it remembers', async () => {
    const text = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(text).toMatch(/^wharf_build_info\{version="[^"]+",node="v\d+[^"]*"\} 1$/m);
    expect(text).toMatch(/^wharf_sessions \d+$/m);
  });
});

it('a program that no session has needed yet is ok for probes, and not started yet at the console', async () => {
  const users = [{ name: 'ann', hash: keyHash('the-key-of-ann') }];
  const command = [process.execPath, 'test/helpers/recording-stdio.fixture.mjs'];
  const own = await startWharf({ servers: { program: { command } }, config: { console: { users } } });
  try {
    const read = async (path: string) => {
      const answer = await fetch(own.adminUrl + path, { headers: { authorization: 'Bearer the-key-of-ann' } });
      return { status: answer.status, text: await answer.text() };
    };
    const known = async (state: string) =>
      until(async () => (await read('/api/servers')).text.includes(`"state":"${state}"`));
    await known('not started yet');
    expect(await read('/readyz')).toMatchObject({
      status: 200,
      text: expect.stringContaining('"servers":{"program":"ok"}'),
    });
    expect((await read('/api/overview')).text).not.toContain('server program');
    expect((await read('/metrics')).text).toContain('wharf_server_up{server="program"} 1');
    const client = await RawClient.connect(own.mcp);
    expect((await client.call('take', { file: '/dev/null' })).error).toBeUndefined();
    await known('ok');
  } finally {
    await own.stop();
  }
});

describe('a gateway that takes tokens', () => {
  it('says of each issuer whether its tokens can be checked, at the console too, and is ready all the same', async () => {
    const issuer = await Issuer.start();
    const [nobody] = await freePorts(1);
    const away = `http://127.0.0.1:${nobody}`;
    const issuers = [{ issuer: issuer.url }, { issuer: away }];
    const users = [{ name: 'ann', hash: keyHash('the-key-of-ann') }];
    const own = await startWharf({
      servers: { good: { url: fake.url } },
      config: { auth: { use: 'jwt', jwt: { issuers } }, console: { users } },
    });
    try {
      const look = async () => {
        const answer = await fetch(`${own.adminUrl}/readyz`);
        return (await answer.json()) as { status: string; issuers: Record<string, string> };
      };
      const asked = { headers: { authorization: 'Bearer the-key-of-ann' } };
      const overview = async () => {
        const answer = await fetch(`${own.adminUrl}/api/overview`, asked);
        return ((await answer.json()) as { problems: { part: string; cause: string }[] }).problems;
      };
      const cause = /its keys cannot be had/;
      // a busy machine may be late with an answer, about these and about other parts
      await until(async () => {
        const { status, issuers } = await look();
        return status === 'ready' && issuers[issuer.url] === 'ok' && cause.test(issuers[away] ?? '');
      });
      await until(async () => {
        const problems = (await overview()).filter(({ part }) => part.startsWith('issuer '));
        return problems.length === 1 && problems[0]?.part === `issuer ${away}` && cause.test(problems[0].cause);
      });
    } finally {
      await own.stop();
      await issuer.close();
    }
  });
});
