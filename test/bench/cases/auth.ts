import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Issuer } from '../../helpers/issuer.js';
import { openSession, type Session } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { atMost, num, type Section, table } from '../lib/report.js';
import { interleave, middle } from '../lib/stats.js';
import type { Target } from '../lib/target.js';
import { gatewayTarget } from '../lib/wharf.js';
import type { Case } from './case.js';
import { type Load, load } from './small.js';

const CONNECTIONS = 32;
/** Microseconds. */
const MOST_ADDED = 60;
const LIFETIME_SECONDS = 3600;

const KEY = 'a-key-of-the-bench-which-is-as-long-as-keys-usually-are';

type Server = 'sse';

interface Way {
  name: string;
  auth: Record<string, unknown>;
  /** Of a caller, once the address of the gateway is known. */
  credentials: (resource: string) => Promise<Record<string, string>>;
}

function waysIn(issuer: Issuer): Way[] {
  const hash = `sha256:${createHash('sha256').update(KEY).digest('hex')}`;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const token = (aud: string) => issuer.token({ aud, exp: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS });
  return [
    { name: 'none', auth: { use: 'none' }, credentials: async () => ({}) },
    {
      name: 'apiKeys',
      auth: { use: 'apiKeys', keys: [{ name: 'bench', hash }] },
      credentials: async () => bearer(KEY),
    },
    {
      name: 'jwt',
      auth: { use: 'jwt', jwt: { issuers: [{ issuer: issuer.url }] } },
      credentials: async (resource) => bearer(await token(resource)),
    },
  ];
}

/** What it costs to know who calls: a gateway for each way in, before the same server. */
export const auth: Case = {
  ids: ['A1'],
  async run(lab): Promise<Section> {
    const issuer = await Issuer.start();
    const open = new Map<string, readonly [Target<Server>, Session]>();
    try {
      for (const way of waysIn(issuer)) open.set(way.name, await callerOf(way, lab));
      const names = [...open.keys()];
      const samples = await interleave<Load>(names, lab.options.rounds, async (name) => {
        const [target, session] = open.get(name) ?? [];
        return target && session && load(lab, target, session, CONNECTIONS);
      });
      const cpu = (name: string) => middle(samples, name, (one) => one.cpu);
      const speed = (name: string) => middle(samples, name, (one) => one.perSecond);
      const failed = (name: string) => middle(samples, name, (one) => one.failures);
      const rows = ['apiKeys', 'jwt'].map((name) =>
        atMost('A1', `1 KB calls, auth ${name}: CPU per call over none`, cpu(name) - cpu('none'), MOST_ADDED, ' µs', 0),
      );
      const body = names.map((name) => [`auth ${name}`, num(cpu(name), 0), num(speed(name), 0), num(failed(name), 0)]);
      const head = [`${CONNECTIONS} connections`, 'CPU µs/req', 'req/s', 'failed'];
      return { title: 'Who calls', rows, details: [table(head, body)] };
    } finally {
      for (const [target] of open.values()) await target.stop();
      await issuer.close();
    }
  },
};

async function callerOf({ name, auth: own, credentials }: Way, lab: Lab): Promise<readonly [Target<Server>, Session]> {
  const { node, nodeArgs } = lab.options;
  const settings = {
    auth: own,
    servers: { sse: { url: lab.direct.url('sse'), transport: 'streamable-http' } },
    objects: { use: 'filesystem', path: join(lab.directory, `auth-${name}`) },
  };
  const target = await gatewayTarget<Server>(
    { name: `auth-${name}`, directory: lab.directory, node, nodeArgs },
    settings,
    {},
  );
  await target.restart();
  const address = target.url('sse');
  return [target, await openSession(address, {}, await credentials(address))];
}
