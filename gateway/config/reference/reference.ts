import { z } from 'zod';
import type { AdapterList } from '../adapter-list.js';
import type { Path } from '../problems.js';
import { valueAt } from '../problems.js';
import { sectionSchemas } from '../schema/schema.js';
import { serversSchema } from '../schema/servers.js';
import { EXAMPLES } from './examples.js';

/** The part of JSON Schema that zod's output for this config uses. */
export interface SchemaNode {
  $schema?: string;
  title?: string;
  type?: string | string[];
  pattern?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, SchemaNode>;
  required?: string[];
  items?: SchemaNode | false;
  prefixItems?: SchemaNode[];
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  additionalProperties?: boolean | SchemaNode;
  /** Only for the reference: set on keys of a map inside a table. */
  isRequired?: boolean;
  /** Example values for a file. */
  examples?: unknown[];
}

/** JSON Schema of the config file, from the same definitions that parse it. */
export function configJsonSchema(adapters: AdapterList): SchemaNode {
  const servers = serversSchema(adapters.upstream).describe(
    'The MCP servers behind Wharf, by name. Each is served at /NAME/mcp, and at /mcp too when there is only one.',
  );
  const whole = z.strictObject({ servers, ...sectionSchemas(adapters) });
  const schema = { title: 'Wharf configuration', ...(z.toJSONSchema(whole, { io: 'input' }) as SchemaNode) };
  for (const [name, node] of Object.entries(schema.properties ?? {})) {
    const examples = examplesOf(name, adapters);
    if (examples.length > 0) node.examples = examples;
  }
  return schema;
}

/** The examples of a section; for one that picks an adapter, the examples of the adapters' settings. */
function examplesOf(section: string, adapters: AdapterList): unknown[] {
  if (Object.hasOwn(EXAMPLES, section)) return [EXAMPLES[section]];
  if (section === 'clients') {
    const profiles = adapters.dialects.flatMap(({ name, undeclaredBy }) =>
      undeclaredBy === undefined ? [] : [{ match: { name: undeclaredBy }, dialects: [name] }],
    );
    return [profiles];
  }
  if (section !== 'objects' && section !== 'state' && section !== 'previews' && section !== 'audit') return [];
  return Object.entries(adapters[section]).flatMap(([use, { settings }]) => {
    const examples = settings.meta()?.examples;
    return Array.isArray(examples) ? examples.map((example: object) => ({ use, ...example })) : [];
  });
}

/** What suggestions are looked up in. It takes more time than a config does, and a list of adapters does not change. */
const schemas = new WeakMap<AdapterList, SchemaNode>();

function schemaOf(adapters: AdapterList): SchemaNode {
  const known = schemas.get(adapters) ?? configJsonSchema(adapters);
  schemas.set(adapters, known);
  return known;
}

/** The keys that the map at a path may have, for suggestions. */
export function knownKeysOf(adapters: AdapterList): (path: Path, root: unknown) => string[] {
  return (path, root) => {
    let nodes = [schemaOf(adapters)];
    path.forEach((step, index) => {
      nodes = nodes
        .flatMap((node) => child(node, step))
        .flatMap((node) => matching(node, valueAt(root, path.slice(0, index + 1))));
    });
    return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
  };
}

function child(node: SchemaNode, step: string | number): SchemaNode[] {
  if (typeof step === 'number') return node.items ? [node.items] : [];
  const property = node.properties?.[step];
  if (property !== undefined) return [property];
  return typeof node.additionalProperties === 'object' ? [node.additionalProperties] : [];
}

/** What a node can be; a union may stand inside another one. */
export function alternativesOf(node: SchemaNode): SchemaNode[] {
  return (node.oneOf ?? node.anyOf)?.flatMap(alternativesOf) ?? [node];
}

/**
 * The branches of a union that a value can mean: those whose constants it has; `command` and `url` decide as well where
 * there is no `use`, and of both `command`, as where a server is parsed.
 */
function matching(node: SchemaNode, value: unknown): SchemaNode[] {
  const branches = alternativesOf(node);
  if (branches.length === 1) return branches;
  const has = (key: string) => typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  const deciding = ({ required = [] }: SchemaNode) =>
    required
      .filter((key) => key === 'command' || key === 'url')
      .every((key) => has(key) && (key === 'command' || !has('command')));
  const fitting = branches.filter((branch) => {
    const properties = Object.entries(branch.properties ?? {});
    const constantsFit = properties.every(([key, { const: expected, prefixItems }]) => {
      const given = valueAt(value, [key]);
      if (prefixItems !== undefined) return Array.isArray(given);
      return expected === undefined || given === undefined || given === expected;
    });
    return constantsFit && (branch.properties?.use !== undefined || deciding(branch));
  });
  // a constant that none of them has is a problem of its own
  return fitting.length > 0 ? fitting : branches.filter(deciding);
}
