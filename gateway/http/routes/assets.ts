import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { browserFile } from '../browser-files.js';

const A_DAY = 'public, max-age=86400';
const A_YEAR = 'public, max-age=31536000, immutable';

/** `GET /assets/<version>/…`: the script of the pages. `notFound` handles missing files. `GET /favicon.ico`: nothing. */
export function assets(): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/assets/:version/:name{.+}', (c) => {
    const text = browserFile(c.req.param('version'), c.req.param('name'));
    if (text === undefined) return c.notFound();
    const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': A_YEAR };
    return new Response(text, { headers });
  });
  // every browser asks for it by itself, also beside a file that a link shows: it is not a mistake to log
  app.get('/favicon.ico', () => new Response(null, { status: 204, headers: { 'cache-control': A_DAY } }));
  return app;
}
