import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { COPY_MODULES } from '../browser-files.js';
import { isPageVisit, takesText } from '../origin/browser-request.js';
import { ConnectPage, ServersPage } from '../pages/connect-page.js';
import { connectText, serversText } from '../pages/connect-text.js';
import type { Entry } from '../pages/entry.js';
import { page } from '../pages/page-response.js';

export interface ConnectDeps {
  /** Their names; a reload may change them. */
  servers: () => readonly string[];
  /** Unless it is open, a page says nothing of servers, not even whether there is one. */
  entry: Entry;
  /** What every URL begins with. */
  baseUrl: () => string;
}

type App = Hono<{ Bindings: HttpBindings }>;

/** Most servers that a page lists. */
const MAX_LISTED = 100;

/** A server's name, as the config allows it. */
const NAME = /^[a-z0-9-]{1,64}$/;

const TEXT = { headers: { 'content-type': 'text/plain; charset=utf-8' } };

/** Stands for a server's name. */
const SOME_SERVER = 'SERVER';

/**
 * `GET /`, and the MCP paths when a browser opens them: what this is, and what to paste into which host. In a terminal
 * `GET /` says it as text. Made of Wharf's own texts; no server hears of it.
 */
export function connect({ servers, entry, baseUrl }: ConnectDeps): App {
  const isOpen = entry === 'open';
  const app: App = new Hono();
  const urlOf = (path: string) => `${baseUrl()}${path}`;
  const one = (endpoint: { name: string; url: string }, root: string) =>
    page(<ConnectPage {...endpoint} entry={entry} modules={modulesFrom(root)} />, 200);
  const list = () => {
    const names = servers();
    const listed = names.slice(0, MAX_LISTED).map((name) => ({ name, url: urlOf(`/${name}/mcp`) }));
    return { listed, more: names.length - listed.length };
  };
  const all = (status: 200 | 404, root: string) => {
    const { listed, more } = list();
    return page(<ServersPage servers={listed} more={more} modules={modulesFrom(root)} />, status);
  };
  const atRoot = (status: 200 | 404) => {
    const [only = '', ...others] = servers();
    if (!isOpen) return one({ name: 'wharf', url: urlOf(`/${SOME_SERVER}/mcp`) }, '');
    return others.length === 0 ? one({ name: only, url: urlOf('/mcp') }, '') : all(status, '');
  };
  const asText = () => {
    const [only = '', ...others] = servers();
    if (!isOpen) return connectText({ name: 'wharf', url: urlOf(`/${SOME_SERVER}/mcp`), entry });
    if (others.length === 0) return connectText({ name: only, url: urlOf('/mcp'), entry });
    const { listed, more } = list();
    return serversText(listed, more);
  };
  app.get('/', (c) => {
    if (isVisit(c)) return atRoot(200);
    return takesText(c.env.incoming.headers) ? new Response(asText(), TEXT) : c.notFound();
  });
  app.get('/mcp', (c) => {
    if (!isVisit(c)) return c.notFound();
    return isOpen ? atRoot(404) : one({ name: 'wharf', url: urlOf('/mcp') }, '');
  });
  app.get('/:server/mcp', (c) => {
    const name = c.req.param('server');
    if (!isVisit(c) || !NAME.test(name)) return c.notFound();
    return !isOpen || servers().includes(name) ? one({ name, url: urlOf(`/${name}/mcp`) }, '../') : all(404, '../');
  });
  return app;
}

const isVisit = ({ env }: Context<{ Bindings: HttpBindings }>) =>
  isPageVisit(env.incoming.method, env.incoming.headers);

const modulesFrom = (root: string) => COPY_MODULES.map((path) => `${root}${path}`);
