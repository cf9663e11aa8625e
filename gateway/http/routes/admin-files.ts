import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Change, FileControl } from '../../files/control/control.js';
import { digestIn } from '../../files/control/digest-text.js';
import type { FileRecord } from '../../files/file.js';
import { isFileId } from '../../files/handles/handle.js';

type Env = { Bindings: HttpBindings };
type Status = 200 | 400 | 403 | 404 | 409 | 503;

const CHANGES: readonly string[] = ['revoke', 'hold', 'release'] satisfies Change[];

const LONGEST = 1024;
const USUAL_PAGE = 100;
const MOST_ON_PAGE = 1000;

/** Who acts here: the port asks for no key. */
const ACTOR = 'admin port';

/**
 * Headers with which a proxy says that the request is another machine's, besides `X-Forwarded-…`. `Via` is the one that
 * every proxy must add (RFC 9110 §7.6.3); the others are those of proxies that do not.
 */
const OF_PROXIES: ReadonlySet<string> = new Set([
  ...['via', 'forwarded', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-envoy-external-address'],
  ...['true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'],
]);

/**
 * Stored files as JSON, for `wharf files` and other programs of this machine. The admin port asks for no key, so that
 * whatever else may reach it, only this machine may see and remove files.
 */
export function adminFiles(control: FileControl, fault: (error: GatewayError) => void): Hono<Env> {
  const app = new Hono<Env>();
  app.use('/files/*', onlyThisMachine);
  app.use('/files', onlyThisMachine);
  app.onError((error, c) => {
    const known = asGatewayError(error);
    const { code, message, httpStatus } = known;
    if (httpStatus === 409) return refuse(c, httpStatus, code, message);
    // the answer does not say why a store fails
    fault(known);
    return refuse(c, 503, code, message);
  });
  app.get('/files', async (c) => {
    const { principal, server, digest: given, before, after, limit = String(USUAL_PAGE) } = c.req.query();
    const digest = given === undefined ? undefined : digestIn(given);
    const until = before === undefined ? undefined : Date.parse(before);
    const most = Number(limit);
    const isGood =
      [principal, server].every((one = '') => one.length <= LONGEST) &&
      (given === undefined || digest !== undefined) &&
      (after === undefined || isFileId(after)) &&
      (until === undefined || !Number.isNaN(until)) &&
      Number.isInteger(most) &&
      most >= 1 &&
      most <= MOST_ON_PAGE;
    if (!isGood)
      return refuse(
        c,
        400,
        'request_invalid',
        `digest, before (RFC 3339), after (an id) or limit (1 to ${MOST_ON_PAGE}) is not valid`,
      );
    const page = await control.list(
      { principal, server, digest, before: until },
      { limit: most, ...(after && { after }) },
    );
    return c.json({ files: page.files.map(fileJson), ...(page.next !== undefined && { next: page.next }) });
  });
  app.delete('/files', async (c) => {
    const { principal = '', ...others } = c.req.query();
    if (principal === '' || Object.keys(others).length > 0)
      return refuse(
        c,
        400,
        'request_invalid',
        'all files are removed of one principal: ?principal=NAME, and nothing else',
      );
    return c.json(await control.removeAllOf(principal, ACTOR));
  });
  app.get('/files/:id', async (c) => answer(c, await control.show(idIn(c))));
  app.post('/files/:id/:change', async (c) => {
    const change = c.req.param('change');
    if (!CHANGES.includes(change)) return refuse(c, 404, 'route_unknown', `a file is changed by ${CHANGES.join(', ')}`);
    return answer(c, await control.change(idIn(c), change as Change, ACTOR));
  });
  app.delete('/files/:id', async (c) => {
    const outcome = await control.remove(idIn(c), ACTOR);
    if (outcome === 'held') throw new GatewayError('file_held');
    return outcome === 'unknown' ? answer(c, undefined) : c.json({ removed: 1, held: 0 });
  });
  return app;
}

function idIn(c: Context<Env>): string {
  const id = c.req.param('id') ?? '';
  return isFileId(id) ? id : '';
}

function answer(c: Context<Env>, record: FileRecord | undefined): Response {
  return record ? c.json(fileJson(record)) : refuse(c, 404, 'file_gone', 'There is no file with this id.');
}

function refuse(c: Context<Env>, status: Status, code: string, message: string): Response {
  return c.json({ error: { code, message } }, status);
}

/** What operators see of a file. */
export function fileJson(record: FileRecord): Record<string, unknown> {
  const { id, principal, server, tool, name, mimeType, size, digest, scan, createdAt, revokedAt, heldAt } = record;
  return {
    ...{ id, principal, server, tool, name, mimeType, size, digest, scan, createdAt: timeOf(createdAt) },
    ...(revokedAt !== undefined && { revokedAt: timeOf(revokedAt) }),
    ...(heldAt !== undefined && { heldAt: timeOf(heldAt) }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

async function onlyThisMachine(c: Context<Env>, next: () => Promise<void>): Promise<Response | undefined> {
  const { incoming } = c.env;
  // HTTP/1.0 is what nginx speaks where `proxy_http_version` says nothing else, and it then adds no header at all
  const isForwarded =
    incoming.httpVersion === '1.0' ||
    Object.keys(incoming.headers).some((name) => OF_PROXIES.has(name) || name.startsWith('x-forwarded-'));
  if (isForwarded || !isThisMachine(incoming.socket.remoteAddress ?? '')) {
    return refuse(
      c,
      403,
      'request_invalid',
      'Files are managed only from the machine or container that Wharf runs in.',
    );
  }
  await next();
  return undefined;
}

function isThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
