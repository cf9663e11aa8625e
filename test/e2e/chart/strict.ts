import { createRequire } from 'node:module';
import type { Manifest } from './rendered.js';

const require = createRequire(import.meta.url);

/** What the chart writes that is not in the published types of Kubernetes, but a resource of others. */
const OF_OTHERS = new Set(['HTTPRoute', 'PrometheusRule', 'ServiceMonitor']);

interface Model {
  validate(): void;
}

/**
 * What Kubernetes would refuse in a manifest under strict validation: what its schema says, and every field that it does
 * not know. Fields are known by the schema's having looked at them.
 */
export function complaints(manifest: Manifest): string[] {
  if (OF_OTHERS.has(manifest.kind)) return [];
  const group = require(`kubernetes-models/${manifest.apiVersion}`) as Record<string, { prototype: Model }>;
  const Kind = group[manifest.kind];
  if (!Kind) return [`${manifest.apiVersion} has no ${manifest.kind}`];
  const seen = new Set<string>();
  try {
    Kind.prototype.validate.call(watched(manifest, '', seen));
  } catch (error) {
    return [(error as Error).message];
  }
  return paths(manifest, '').filter((path) => !seen.has(path) && !seen.has(`${path.replace(/\/[^/]*$/, '')}/*`));
}

/** The value, which notes the path of each member that is read; `*` where all of them are. */
function watched<Value>(value: Value, path: string, seen: Set<string>): Value {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const member = Reflect.get(target, name, receiver) as unknown;
      if (typeof name === 'symbol') return member;
      seen.add(`${path}/${name}`);
      return watched(member, `${path}/${name}`, seen);
    },
    ownKeys(target) {
      seen.add(`${path}/*`);
      return Reflect.ownKeys(target);
    },
  });
}

function paths(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [`${path}/${name}`, ...paths(member, `${path}/${name}`)]);
}
