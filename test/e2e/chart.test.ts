import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { loadText } from '../unit/config/load-text.js';
import { CHART, installHelm, type Manifest, notesOf, rendered, theOnly, valuesOf } from './chart/rendered.js';
import { complaints } from './chart/strict.js';

const ENVIRONMENT = {
  WHARF_KEY_CI: `sha256:${'ab'.repeat(32)}`,
  WHARF_SECRET: '0'.repeat(32),
  REDIS_URL: 'redis://redis:6379',
  WHARF_CONSOLE_HASH: `sha256:${'cd'.repeat(32)}`,
};

interface Pod {
  [member: string]: unknown;
  securityContext: object;
  containers: { securityContext: object; image: string }[];
}

interface Policy {
  ingress: {
    ports: { port: string }[];
    from?: { podSelector?: { matchLabels?: object }; namespaceSelector?: object }[];
  }[];
}

const EXAMPLES = ['organisation', 'one-replica'] as const;

const read = (name: string) => readFile(join(CHART, name), 'utf8');
const labelsOf = ({ template }: { template: Pick<Manifest, 'metadata'> }) => template.metadata.labels;
const selects = (selector: unknown, labels: Record<string, string>) =>
  Object.entries(selector as Record<string, string>).every(([name, value]) => labels[name] === value);

/** Two values merged as Helm merges them, one level deep. */
const withValues = (values: Record<string, unknown>, more: Record<string, object>) => ({
  ...values,
  ...Object.fromEntries(Object.entries(more).map(([key, value]) => [key, { ...(values[key] as object), ...value }])),
});

beforeAll(installHelm, 300_000);

describe.each(EXAMPLES)('the chart with the values of ci/%s', (name) => {
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await rendered(await valuesOf(name));
  });

  it('makes objects that Kubernetes takes, without a field that it does not know', () => {
    const found = manifests.map((one) => [one.kind, complaints(one)]);
    expect(found).toEqual(manifests.map(({ kind }) => [kind, []]));
    expect(manifests.length).toBeGreaterThan(6);
  });

  it('gives Wharf a config without a problem', async () => {
    const { data } = theOnly(manifests, 'ConfigMap', 'demo-wharf') as unknown as { data: Record<string, string> };
    expect(await loadText(data['wharf.yaml'] ?? '', ENVIRONMENT)).toMatchObject({ ok: true });
  });

  it('runs without root, without capabilities and on a read-only file system', () => {
    const { spec } = theOnly(manifests, 'Deployment') as unknown as { spec: { template: { spec: Pod } } };
    const test = theOnly(manifests, 'Pod') as unknown as { spec: Pod };
    for (const pod of [spec.template.spec, test.spec]) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { securityContext } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
    // the pod's first process ends orphans, as `docker run --init` does
    expect(spec.template.spec).toMatchObject({ shareProcessNamespace: true });
  });

  it('sends clients to the pods of Wharf, and not to the one of `helm test`', () => {
    const { spec } = theOnly(manifests, 'Deployment') as unknown as {
      spec: { selector: { matchLabels: object }; template: Manifest };
    };
    const selectors = manifests.flatMap(({ kind, spec: of }) =>
      kind === 'Service' ? [(of as { selector: object }).selector] : [],
    );
    for (const selector of [...selectors, spec.selector.matchLabels]) {
      expect(selects(selector, labelsOf(spec))).toBe(true);
      expect(selects(selector, theOnly(manifests, 'Pod').metadata.labels)).toBe(false);
    }
  });

  it('is given values that values.schema.json allows', async () => {
    const validate = new Ajv({ allErrors: true }).compile(JSON.parse(await read('values.schema.json')) as object);
    expect([validate(await valuesOf(name)), validate.errors]).toEqual([true, null]);
  });
});

describe('the chart', () => {
  it('is held to what Kubernetes knows', async () => {
    const disruptions = theOnly(await rendered(await valuesOf('organisation')), 'PodDisruptionBudget');
    expect(complaints({ ...disruptions, spec: { maxUnavailabel: 1, selector: {} } })).toEqual(['/spec/maxUnavailabel']);
    expect(complaints({ ...disruptions, spec: { maxUnavailable: {}, selector: {} } })).not.toEqual([]);
    expect(complaints({ ...disruptions, kind: 'PodDisruption' })).not.toEqual([]);
  });

  it('publishes MCP by an Ingress and a route for the host of publicUrl, and the admin port by neither', async () => {
    const manifests = await rendered(await valuesOf('organisation'));
    expect(theOnly(manifests, 'Ingress')).toMatchObject({
      spec: {
        tls: [{ hosts: ['mcp.example.com'], secretName: 'mcp-tls' }],
        rules: [
          {
            host: 'mcp.example.com',
            http: { paths: [{ path: '/', backend: { service: { name: 'demo-wharf', port: { name: 'mcp' } } } }] },
          },
        ],
      },
    });
    expect(theOnly(manifests, 'HTTPRoute')).toMatchObject({
      spec: {
        parentRefs: [{ name: 'public', namespace: 'gateways' }],
        hostnames: ['mcp.example.com'],
        rules: [{ timeouts: { request: '0s' }, backendRefs: [{ name: 'demo-wharf', port: 80 }] }],
      },
    });
    const monitor = theOnly(manifests, 'ServiceMonitor') as unknown as {
      spec: { selector: { matchLabels: object }; endpoints: object[] };
    };
    expect(monitor.spec.endpoints).toEqual([{ port: 'admin', path: '/metrics', interval: '30s' }]);
    const services = manifests.filter(({ kind }) => kind === 'Service');
    expect(services.filter(({ metadata }) => selects(monitor.spec.selector.matchLabels, metadata.labels))).toEqual([
      theOnly(manifests, 'Service', 'demo-wharf-admin'),
    ]);
    const alerts = theOnly(manifests, 'PrometheusRule') as unknown as { spec: { groups: { rules: object[] }[] } };
    expect(alerts.spec.groups[0]?.rules.length).toBeGreaterThan(5);
    const dashboard = theOnly(manifests, 'ConfigMap', 'demo-wharf-dashboard') as unknown as { data: object };
    expect(JSON.parse(Object.values(dashboard.data)[0] as string)).toMatchObject({ title: 'Wharf' });
    expect(theOnly(manifests, 'NetworkPolicy')).toMatchObject({
      spec: { ingress: [{ ports: [{ port: 'mcp' }] }, { ports: [{ port: 'admin' }] }] },
    });
  });

  it('lets the pod of `helm test` reach the admin port, also where the values list who may', async () => {
    for (const name of EXAMPLES) {
      const manifests = await rendered(await valuesOf(name));
      const { spec } = theOnly(manifests, 'NetworkPolicy') as unknown as { spec: Policy };
      const peers = spec.ingress.find(({ ports }) => ports[0]?.port === 'admin')?.from ?? [];
      const { labels } = theOnly(manifests, 'Pod').metadata;
      const selectors = peers.filter(({ namespaceSelector }) => namespaceSelector === undefined);
      expect(selectors.some(({ podSelector }) => selects(podSelector?.matchLabels ?? {}, labels))).toBe(true);
    }
  });

  it('listens where pods have addresses of IPv6 alone', async () => {
    const values = { ...(await valuesOf('organisation')), listenAddress: '[::]' };
    const { data } = theOnly(await rendered(values), 'ConfigMap', 'demo-wharf') as unknown as {
      data: Record<string, string>;
    };
    expect(await loadText(data['wharf.yaml'] ?? '', ENVIRONMENT)).toMatchObject({
      ok: true,
      config: { listen: { host: '::', port: 8080 }, adminListen: { host: '::', port: 9090 } },
    });
  });

  it('starts new pods for a new config', async () => {
    const values = await valuesOf('organisation');
    const other = withValues(values, { config: { retention: '48h' } });
    const [before, again, after] = (await Promise.all([values, values, other].map(rendered))).map(
      (manifests) =>
        (theOnly(manifests, 'Deployment') as unknown as { spec: { template: Manifest } }).spec.template.metadata
          .annotations?.['checksum/config'],
    );
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(again).toBe(before);
    expect(after).not.toBe(before);
  });

  it.each([
    ['config.publicUrl', { publicUrl: '' }],
    ['config.servers', { servers: null }],
    ['config.auth', { auth: null }],
    ['several replicas need config.state', { state: { use: 'memory' } }],
    ['several replicas need config.objects', { objects: { use: 'filesystem' } }],
  ])('says what is missing: %s', async (text, config) => {
    await expect(rendered(withValues(await valuesOf('organisation'), { config }))).rejects.toThrow(text);
  });

  it('says how to reach the servers and the console', async () => {
    const notes = await notesOf(await valuesOf('organisation'));
    expect(notes).toContain('https://mcp.example.com/search/mcp');
    expect(notes).toContain('port-forward svc/demo-wharf-admin 9090:9090');
    expect(notes).not.toContain('config.audit');
    expect(await notesOf(await valuesOf('one-replica'))).not.toContain('port-forward');
  });

  it('warns of an audit log that would be gone with its pod', async () => {
    const values = withValues(await valuesOf('organisation'), { config: { audit: { use: 'file', path: '/data/a' } } });
    expect(await notesOf(values)).toContain('gone with the pod');
    expect(await notesOf({ ...values, extraVolumeMounts: [{ name: 'audit', mountPath: '/data/a' }] })).not.toContain(
      'gone with the pod',
    );
  });

  it('warns of files and links that would be gone with their pod, and says of which', async () => {
    const told = async (values: object) =>
      / so with each new config.*: ([\s\S]*?\.)\n/.exec(await notesOf(values))?.[1];
    const one = await valuesOf('one-replica');
    expect(await told(one)).toBe('config.state is the memory of the pod.');
    expect(await told(withValues(one, { persistence: { enabled: false } }))).toBe(
      'config.objects is a\nfolder without a volume, and config.state is the memory of the pod.',
    );
    const redis = { state: { use: 'redis', url: 'redis://redis:6379' } };
    expect(await told(withValues(one, { config: redis }))).toBeUndefined();
    expect(await told(withValues(one, { config: redis, persistence: { enabled: false } }))).toBe(
      'config.objects is a\nfolder without a volume.',
    );
    expect(await told(await valuesOf('organisation'))).toBeUndefined();
  });

  it('warns of a volume that several replicas cannot mount', async () => {
    const several = await valuesOf('organisation');
    expect(await notesOf(several)).not.toContain('persistence.enabled is for one replica');
    const persistent = withValues(several, { persistence: { enabled: true } });
    expect(await notesOf(persistent)).toContain('persistence.enabled is for one replica');
    expect(await notesOf(await valuesOf('one-replica'))).not.toContain('persistence.enabled is for one replica');
  });

  it('warns of an end that comes before the running requests are finished', async () => {
    const values = await valuesOf('organisation');
    expect(await notesOf(values)).not.toContain('is killed after');
    expect(await notesOf({ ...values, terminationGracePeriodSeconds: 34 })).toMatch(/\n35 s .*Seconds to 45\.\n/);
    expect(await notesOf(withValues(values, { config: { timeouts: { drain: '2m' } } }))).toMatch(
      /killed after 60 s.*\n125 s together\. Set terminationGracePeriodSeconds to 135\.\n/,
    );
  });

  it('makes no routes for a publicUrl without a host, and warns of a path, which its routes do not remove', async () => {
    const values = await valuesOf('organisation');
    const at = (publicUrl: string) => withValues(values, { config: { publicUrl } });
    await expect(rendered(at('mcp.example.com'))).rejects.toThrow('need a config.publicUrl that begins with http://');
    const unrouted = { ingress: { enabled: false }, httpRoute: { enabled: false } };
    expect(await notesOf({ ...at('$PUBLIC_URL'), ...unrouted })).toContain('Neither ingress nor httpRoute');
    expect(await notesOf(at('https://mcp.example.com/'))).not.toContain('has a path');
    expect(await notesOf(at('https://mcp.example.com/wharf'))).toContain('config.publicUrl has a path');
  });

  it('says that it needs an image', async () => {
    const values = await valuesOf('organisation');
    await expect(rendered(withValues(values, { image: { repository: '' } }))).rejects.toThrow('image.repository');
  });

  it('has a schema with the names of values.yaml and no others, which refuses a misspelt one', async () => {
    const schema = JSON.parse(await read('values.schema.json')) as Described;
    const { global: _, ...properties } = schema.properties ?? {};
    expect(namesOf({ properties })).toEqual(keysOf(parse(await read('values.yaml')), { properties }));
    const validate = new Ajv().compile(schema);
    expect(validate({ replicaCuont: 2 })).toBe(false);
    expect(validate({ service: { type: 'Public' } })).toBe(false);
  });

  it('explains each of its values in its README', async () => {
    const readme = await read('README.md');
    const { properties } = JSON.parse(await read('values.schema.json')) as Described;
    const { global: _, ...own } = properties ?? {};
    expect(namesOf({ properties: own }).filter((name) => !readme.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

interface Described {
  properties?: Record<string, Described>;
}

/** Dotted names of the values without members of their own. */
function namesOf({ properties = {} }: Described, prefix = ''): string[] {
  return Object.entries(properties)
    .flatMap(([name, below]) => (below.properties ? namesOf(below, `${prefix}${name}.`) : [`${prefix}${name}`]))
    .sort();
}

/** The same of values, as deep as a schema goes. */
function keysOf(values: unknown, { properties = {} }: Described, prefix = ''): string[] {
  return Object.entries(values as Record<string, unknown>)
    .flatMap(([name, value]) => {
      const below = properties[name];
      return below?.properties ? keysOf(value, below, `${prefix}${name}.`) : [`${prefix}${name}`];
    })
    .sort();
}
