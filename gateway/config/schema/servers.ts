import { z } from 'zod';
import type { AdapterList } from '../adapter-list.js';
import { pathName } from '../server-name.js';
import {
  isTransportWord,
  type ServerTransport,
  TRANSPORT_NAMES,
  type TransportName,
  transportFacts,
} from '../transports.js';
import { allowSchema } from './access.js';
import { origin, size } from './fields.js';
import { serverLimitsSchema } from './limits.js';
import { serverUploadToolSchema } from './peers.js';
import { toolsSchema } from './tools.js';
import { upstreamAuthSchema } from './upstream-auth.js';
import { whileInMemory } from './while-in-memory.js';

/** First segments of Wharf's own paths: `/d/mcp` would be a download. */
const RESERVED_NAMES = ['d', 'u'];
const NAME_PATTERN = /^[a-z0-9-]{1,64}$/;

const limits = () =>
  serverLimitsSchema().optional().describe('Limits of this server alone. They can only be lower than the global ones.');

/** What every server may set besides how to reach it. */
const common = () => ({
  limits: limits(),
  tools: toolsSchema(),
  allow: allowSchema()
    .optional()
    .describe(
      'Who may use this server, and which of its tools. A caller is let in by each entry that means it; all members of an ' +
        'entry must match, and an entry without any means every caller. Other callers get 403. Tools that no entry gives a ' +
        'caller are not in its list, and calls of them are refused as unknown. Prompts and resources come with the ' +
        'server. Default: every caller, and every tool.',
    ),
  fetch: z
    .strictObject({
      origins: z
        .array(origin())
        .max(100)
        .default([])
        .describe(
          'Origins (`http://minio:9000`) that this server may name in addresses although they are private or plain ' +
            "http. The server's own `url` and public https addresses need no entry; Wharf's own ports are always " +
            'refused.',
        ),
    })
    .optional()
    .describe('Where this server may keep files that its results only name.'),
  upstreamAuth: upstreamAuthSchema()
    .optional()
    .describe(
      'Credentials for this server besides `headers`, over Streamable HTTP. A client’s own token reaches a server only ' +
        'by `delegate`.',
    ),
  uploadTool: serverUploadToolSchema().optional().describe("This server's own `uploadTool`."),
});

const MIB = 1024 * 1024;

/** What a server's other keys are read as when no word names a transport: problems refer to it. */
const DEFAULT = 'streamable-http';

const accepts = (name: TransportName) =>
  size({ min: 1024, max: 2048 * MIB })
    .prefault(transportFacts(name).accepts)
    .describe('Largest message that this server accepts. Wharf refuses a longer one before sending its first byte.');

/** What `transport` may be; a server with any other word is read as one of `DEFAULT`. */
const WORDS = TRANSPORT_NAMES.filter(isTransportWord).join(', ');

/** The member `transport` of a server; absent where a command shows the transport. */
function transport(name: TransportName): { transport?: z.ZodType } {
  if (!isTransportWord(name)) return {};
  const word = z
    .literal(name, { error: `must be one of: ${WORDS}` })
    .describe("The server's transport. Default: Wharf tries Streamable HTTP first, then HTTP+SSE.");
  return { transport: name === DEFAULT ? word.optional() : word };
}

type Transports = AdapterList['upstream'];

const schemasOf = whileInMemory((_: Transports) => new Map<TransportName, z.ZodObject>());

/**
 * The way to write a server of one transport, made when a server needs it: most configs have servers of one or two. The keys
 * of a server show which one is meant, so that problems refer to that one.
 */
export function serverSchema(upstream: Transports, name: TransportName): z.ZodObject {
  const known = schemasOf(upstream);
  const schema =
    known.get(name) ?? upstream[name].settings.safeExtend({ ...transport(name), accepts: accepts(name), ...common() });
  known.set(name, schema);
  return schema;
}

/** The schema that applies to a server as written. */
export function schemaFor(server: unknown): { name: TransportName; transport: ServerTransport } {
  const written: Record<string, unknown> = typeof server === 'object' && server !== null ? { ...server } : {};
  if (Object.hasOwn(written, 'command')) return { name: 'stdio', transport: 'stdio' };
  if (written.transport === undefined) return { name: DEFAULT, transport: 'probed' };
  const name = isTransportWord(written.transport) ? written.transport : DEFAULT;
  return { name, transport: name };
}

/** Why a server cannot have this name; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (!NAME_PATTERN.test(name)) {
    const near = pathName(name);
    return `is not a server name: 1 to 64 of a-z, 0-9 and "-"${near && `, such as "${near}"`}`;
  }
  if (RESERVED_NAMES.includes(name)) return `is a path of Wharf's own; choose another name`;
  return undefined;
}

/** `servers:` as one schema, for the reference. Parsing handles each server separately. */
export function serversSchema(upstream: Transports) {
  const ways = TRANSPORT_NAMES.map((name) => serverSchema(upstream, name));
  return z.record(z.string().regex(NAME_PATTERN), z.union(ways));
}
