import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { HeldBudget } from '../../budget/held.js';
import type { Ledger } from '../../budget/ledger.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import { ReadAhead } from '../../files/read-ahead.js';
import type { Admission, UploadBody, Uploads } from '../../files/upload.js';
import type { Limits, Timeouts } from '../../policy/limits.js';
import type { Log, LogFields } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Owner } from '../../ports/owner.js';
import { bodyPace } from '../body.js';
import { callerOf } from '../caller.js';
import { countRequest } from '../count-request.js';
import { Received } from '../received.js';
import { planUpload } from '../upload-request.js';
import { refused, shown, stored } from './upload-answers.js';

export interface UploadDeps {
  uploads: Pick<Uploads, 'inspect' | 'admit' | 'receive'>;
  library: Pick<Library, 'describe'>;
  held: HeldBudget;
  /** Counts the requests under way of each principal. */
  requests: Ledger;
  limits: Pick<Limits, 'leastRate'>;
  timeouts: Pick<Timeouts, 'idle' | 'grace' | 'upload'>;
  /** Exchanges under way, for which a drain waits. */
  open: { count: number };
  log: Log;
  metrics: Metrics;
  /** Told of a link that leads to nothing. */
  refused: (error: GatewayError, request: IncomingMessage) => void;
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
  let admission: Admission | undefined;
  let counted: Owner | undefined;
  const tell = (outcome: string, about: LogFields) => {
    if (!admission) return;
    const { fileId: file, intent } = admission;
    const { principal, purpose } = intent;
    const ms = Math.round(performance.now() - startedAt);
    deps.log.info({ file, principal, server: purpose?.server, ...callerOf(incoming), outcome, ...about, ms }, 'upload');
  };
  try {
    admission = await deps.uploads.admit(ticket);
    counted = countRequest(deps.requests, admission.intent.principal);
    const read = planUpload(incoming, admission);
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const record = await store(deps, admission, incoming, read, gone);
    tell('stored', { size: record.size, mimeType: record.mimeType });
    deps.metrics.count('wharf_uploads_total', { outcome: 'stored' });
    return record;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    const outcome =
      gone.signal.reason === CLIENT_GONE || error.code === 'upload_incomplete'
        ? 'aborted'
        : error.httpStatus < 500
          ? 'refused'
          : 'failed';
    if (outcome === 'failed') deps.log.warn({ code: error.code, err: error.cause ?? error }, 'an upload failed');
    tell(outcome, { error: error.code });
    if (!admission) deps.refused(error, incoming);
    deps.metrics.count('wharf_uploads_total', { outcome });
    const { limit } = error.facts;
    if (limit !== undefined) deps.metrics.count('wharf_limits_total', { limit: String(limit) });
    throw error;
  } finally {
    outgoing.off('close', onClose);
    if (counted) deps.requests.give(1, counted);
    const end = () => {
      deps.open.count -= 1;
    };
    // a drain waits for the answer too: what was stored must be told
    if (outgoing.destroyed) end();
    else outgoing.once('close', end);
  }
}

async function store(
  { uploads, held, limits, timeouts }: UploadDeps,
  admission: Admission,
  incoming: IncomingMessage,
  read: (bytes: AsyncIterable<Buffer>) => UploadBody,
  gone: AbortController,
): Promise<FileRecord> {
  const late = () =>
    gone.abort(new GatewayError('upload_timeout', { limit: 'timeouts.upload', allowed: timeouts.upload }));
  const timer = setTimeout(late, timeouts.upload);
  const bytes = new Received(incoming, {
    ahead: new ReadAhead(held, { principal: admission.intent.principal }),
    paceOf: (tooSlow) => bodyPace(limits, timeouts, tooSlow),
    signal: gone.signal,
  });
  try {
    return await uploads.receive(admission, read(bytes), gone.signal);
  } finally {
    clearTimeout(timer);
    bytes.close();
  }
}
