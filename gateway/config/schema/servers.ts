import { z } from 'zod';
import type { AdapterList } from '../adapter-list.js';
import type { ServerTransport } from '../config.js';
import { origin, size } from './fields.js';
import { serverLimitsSchema } from './limits.js';
import { serverUploadToolSchema } from './peers.js';
import { toolsSchema } from './tools.js';

/** First segments of Wharf's own paths: `/d/mcp` would be a download. */
const RESERVED_NAMES = ['d', 'u'];
const NAME_PATTERN = /^[a-z0-9-]{1,64}$/;

const limits = () =>
  serverLimitsSchema().optional().describe('Limits of this server alone. They can only be lower than the global ones.');

/** What every server may say beside how it is reached. */
const common = () => ({
  limits: limits(),
  tools: toolsSchema(),
  fetch: z
    .strictObject({
      origins: z
        .array(origin())
        .max(100)
        .default([])
        .describe(
          'Origins (`http://minio:9000`) that addresses named by this server may have although they are private or plain ' +
            "http. The server's own `url` needs no entry, public https addresses neither, and Wharf's own ports are refused " +
            'in any case.',
        ),
    })
    .optional()
    .describe('Where this server may keep the files that it only names.'),
  uploadTool: serverUploadToolSchema().optional().describe("This server's own `uploadTool`."),
});

const MIB = 1024 * 1024;

/** The largest request an SDK server survives: over HTTP it answers 413, over stdio its process exits. */
const accepts = (byDefault: '4MiB' | '10MiB') =>
  size({ min: 1024, max: 2048 * MIB })
    .prefault(byDefault)
    .describe('Largest message this server takes. A longer one is refused before its first byte.');

/** The three ways to write a server. Which one is meant shows in its keys, so that problems are told for that one. */
export function serverSchemas(upstream: AdapterList['upstream']) {
  const transport = (name: 'streamable-http' | 'legacy-sse') =>
    z
      .literal(name)
      .describe('How the server speaks HTTP. Left out, Wharf asks it: Streamable HTTP first, then HTTP+SSE.');
  return {
    stdio: upstream.stdio.settings.safeExtend({ accepts: accepts('10MiB'), ...common() }),
    'streamable-http': upstream['streamable-http'].settings.safeExtend({
      transport: transport('streamable-http').optional(),
      accepts: accepts('4MiB'),
      ...common(),
    }),
    'legacy-sse': upstream['legacy-sse'].settings.safeExtend({
      transport: transport('legacy-sse'),
      accepts: accepts('4MiB'),
      ...common(),
    }),
  };
}

export type ServerSchemas = ReturnType<typeof serverSchemas>;

/** The schema that a server as written is to be judged by. */
export function schemaFor(server: unknown): { name: keyof ServerSchemas; transport: ServerTransport } {
  const written: Record<string, unknown> = typeof server === 'object' && server !== null ? { ...server } : {};
  if (Object.hasOwn(written, 'command')) return { name: 'stdio', transport: 'stdio' };
  if (written.transport === 'legacy-sse') return { name: 'legacy-sse', transport: 'legacy-sse' };
  return { name: 'streamable-http', transport: written.transport === undefined ? 'probed' : 'streamable-http' };
}

/** Why a server cannot have this name, or undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (!NAME_PATTERN.test(name)) return 'is not a server name: 1 to 64 of a-z, 0-9 and "-"';
  if (RESERVED_NAMES.includes(name)) return `is a path of Wharf's own; choose another name`;
  return undefined;
}

/** `servers:` as one schema, for the reference. Parsing goes server by server. */
export function serversSchema(schemas: ServerSchemas) {
  const union = z.union([schemas['streamable-http'], schemas['legacy-sse'], schemas.stdio]);
  return z.record(z.string().regex(NAME_PATTERN), union);
}
