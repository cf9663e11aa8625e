import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import type { Uploads } from '../../files/upload.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import { received } from '../received.js';
import { planUpload } from '../upload-request.js';
import { refused, shown, stored } from './upload-answers.js';

export interface UploadDeps {
  uploads: Pick<Uploads, 'inspect' | 'admit' | 'receive'>;
  library: Pick<Library, 'describe'>;
  /** Milliseconds a client may send nothing. */
  idleMs: number;
  /** Exchanges under way, for which a drain waits. */
  open: { count: number };
  log: Log;
  metrics: Metrics;
}

type Env = { Bindings: HttpBindings };

const ALLOW = 'GET, HEAD, POST, PUT';
/** Longer than any ticket, shorter than anything worth hashing or logging. */
const TICKET = /^[\w-]{1,256}$/;
const CLIENT_GONE = new Error('the client has gone');

/** `POST|PUT /u/:ticket` stores a file, `GET` shows a form for it. */
export function uploads(deps: UploadDeps): Hono<Env> {
  const app = new Hono<Env>();
  app.all('/u/:ticket', async (c) => {
    const ticket = TICKET.test(c.req.param('ticket')) ? c.req.param('ticket') : '';
    const accept = c.req.header('accept');
    const incoming = c.env.incoming as IncomingMessage;
    try {
      switch (incoming.method) {
        case 'GET':
        case 'HEAD':
          return shown(await deps.uploads.inspect(ticket));
        case 'POST':
        case 'PUT':
          return stored(
            deps.library.describe(await receive(deps, ticket, incoming, c.env.outgoing as ServerResponse)),
            accept,
          );
        default:
          throw new GatewayError('method_not_allowed', { method: incoming.method ?? '', allow: ALLOW });
      }
    } catch (thrown) {
      const error = asGatewayError(thrown);
      return refused(error, accept, error.code === 'method_not_allowed' ? { allow: ALLOW } : {});
    }
  });
  return app;
}

async function receive(
  deps: UploadDeps,
  ticket: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<FileRecord> {
  const startedAt = performance.now();
  const gone = new AbortController();
  const onClose = () => gone.abort(CLIENT_GONE);
  outgoing.once('close', onClose);
  deps.open.count += 1;
  try {
    const admission = await deps.uploads.admit(ticket);
    const read = planUpload(incoming, admission);
    const begin = () => {
      if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    };
    const record = await deps.uploads.receive(
      admission,
      read(received(incoming, { idleMs: deps.idleMs, begin })),
      gone.signal,
    );
    const ms = Math.round(performance.now() - startedAt);
    deps.log.info({ file: record.id, size: record.size, mimeType: record.mimeType, ms }, 'upload');
    deps.metrics.count('wharf_uploads_total', { outcome: 'stored' });
    return record;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    const outcome =
      gone.signal.aborted || error.code === 'upload_incomplete'
        ? 'aborted'
        : error.httpStatus < 500
          ? 'refused'
          : 'failed';
    if (outcome === 'failed') deps.log.warn({ code: error.code, err: error.cause ?? error }, 'an upload failed');
    deps.metrics.count('wharf_uploads_total', { outcome });
    throw error;
  } finally {
    outgoing.off('close', onClose);
    const end = () => {
      deps.open.count -= 1;
    };
    // a drain waits for the answer too: what was stored must be told
    if (gone.signal.aborted) end();
    else outgoing.once('close', end);
  }
}
