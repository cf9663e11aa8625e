import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { type LoginDocuments, METADATA_HEADERS } from '../../identity/resource.js';

type App = Hono<{ Bindings: HttpBindings }>;

/** RFC 9728: where clients log in, for each server. Any page may read it, as clients in browsers must. */
export function resourceMetadata(documents: LoginDocuments): App {
  const app: App = new Hono();
  const answer = async (c: Context<{ Bindings: HttpBindings }>): Promise<Response> => {
    const document = await documents.document(new URL(c.req.url).pathname);
    if (!document) return c.notFound();
    return new Response(JSON.stringify(document), { status: 200, headers: METADATA_HEADERS });
  };
  for (const path of documents.paths) {
    app.get(path, answer);
    app.options(
      path,
      () =>
        new Response(null, {
          status: 204,
          headers: {
            'access-control-allow-origin': '*',
            'access-control-allow-methods': 'GET',
            // clients of MCP send their version with it
            'access-control-allow-headers': 'mcp-protocol-version, authorization, accept',
            'access-control-max-age': '86400',
          },
        }),
    );
  }
  return app;
}
