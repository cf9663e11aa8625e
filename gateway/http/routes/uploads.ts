import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { DescribedFile, FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import { mayBeTicket } from '../../files/tickets/ticket.js';
import type { Uploads } from '../../files/uploads/upload.js';
import type { Admission, UploadLinks } from '../../files/uploads/upload-links.js';
import type { Clock } from '../../ports/clock.js';
import { TEXTS } from '../browser/texts.js';
import { callerOf } from '../caller.js';
import { wantsPage } from '../pages/page-response.js';
import { answerTus } from '../tus/answer.js';
import { begunOn } from '../tus/begun.js';
import { speaksTus } from '../tus/request.js';
import { codeInForm, passCookie, proofIn, UNLOCK, UNLOCKED } from '../upload-code.js';
import { exchangeUpload, receivedUpload, ticketFor, whileOpen } from '../upload-exchange.js';
import { planUpload, planUploads } from '../upload-request.js';
import { ADD, addFile, FINISH, filesCome, finishFiles, removeFile, type SeveralDeps } from './several-files.js';
import { codeAsked, refused, shown, showsForm, stored, storedAll } from './upload-answers.js';

export interface UploadDeps extends SeveralDeps {
  uploadLinks: Pick<UploadLinks, 'link' | 'inspect' | 'find' | 'opened' | 'admit' | 'needsCode' | 'prove'>;
  uploads: Pick<Uploads, 'receive' | 'receiveAll'>;
  /** Whether people reach the pages by https. */
  isSecure: () => boolean;
  library: Pick<Library, 'describe'>;
  clock: Clock;
}

type Env = { Bindings: HttpBindings };

const ALLOW = 'GET, HEAD, POST, PUT';

/**
 * `POST|PUT /u/:ticket` stores a file; `GET` shows a page for it, or the ticket's state as JSON. The protocol for
 * uploads in several requests is recognised by its headers.
 */
export function uploads(deps: UploadDeps): Hono<Env> {
  const app = new Hono<Env>();
  app.all('/u/:ticket', async (c) => {
    const answer = () => answered(deps, c);
    return deps.traced?.answered(c.env.incoming, answer) ?? answer();
  });
  return app;
}

async function answered(deps: UploadDeps, c: Context<Env, '/u/:ticket'>): Promise<Response> {
  const named = mayBeTicket(c.req.param('ticket')) ? c.req.param('ticket') : '';
  const incoming = c.env.incoming;
  const { resumable } = deps;
  if (resumable && speaksTus(incoming)) {
    const upload = new URL(c.req.url).searchParams.get('upload') ?? undefined;
    return answerTus({ ...deps, resumable }, { ticket: named, upload }, incoming, c.env.outgoing);
  }
  const outgoing = c.env.outgoing;
  const asked = new URL(c.req.url).searchParams;
  try {
    const usable = () => ticketFor(deps, named, incoming);
    switch (incoming.method) {
      case 'GET':
      case 'HEAD':
        return await show(deps, await usable(), incoming, asked.has(UNLOCKED));
      case 'POST':
      case 'PUT':
        if (incoming.method === 'POST' && asked.has(UNLOCK))
          return await whileOpen(deps, outgoing, async () => unlock(deps, await usable(), incoming, outgoing));
        if (incoming.method === 'POST' && asked.has(ADD)) return await addFile(deps, named, incoming, outgoing);
        if (incoming.method === 'POST' && asked.has(FINISH)) return await finishFiles(deps, named, incoming, outgoing);
        return await receive(deps, named, incoming, outgoing);
      default:
        if (incoming.method === 'DELETE' && (await deps.several.isPlace(await usable())))
          return await removeFile(deps, named, incoming, outgoing);
        throw new GatewayError('method_not_allowed', { method: incoming.method ?? '', allow: ALLOW });
    }
  } catch (thrown) {
    const error = asGatewayError(thrown);
    return refused(error, incoming, error.code === 'method_not_allowed' ? { allow: ALLOW } : {});
  }
}

async function show(
  deps: UploadDeps,
  ticket: string,
  incoming: IncomingMessage,
  isUnlocked: boolean,
): Promise<Response> {
  const { uploadLinks, resumable, clock } = deps;
  const { accept } = incoming.headers;
  const state = await uploadLinks.inspect(ticket);
  if (state.kind === 'open' && isOpening(incoming)) await uploadLinks.opened(ticket);
  if (state.kind === 'open' && uploadLinks.needsCode(state, proofIn(incoming, state.fileId)))
    return codeAsked(state, accept, isUnlocked ? { message: TEXTS.code.noCookie, httpStatus: 200 } : undefined);
  // the page's own address does not say how its user came there
  if (isUnlocked && state.kind === 'open') return new Response(null, { status: 303, headers: { location: ticket } });
  const begun = resumable && showsForm(state, accept) ? await begunOn(resumable, ticket) : undefined;
  const come = showsForm(state, accept) ? await filesCome(deps, ticket, state) : undefined;
  return shown(state, accept, { now: clock.now(), isResumable: resumable !== undefined, begun, come });
}

/** Whether a user sees the page. A browser may load it before that, and chats load it for a preview, as no page. */
function isOpening({ method, headers }: IncomingMessage): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose;
  return method === 'GET' && wantsPage(headers.accept) && !String(purpose ?? '').includes('prefetch');
}

/**
 * Takes the code from the page's form: the browser that has sent it need not give it again. It does not count as a request of
 * the link's caller: another one with the link could keep the caller from requests of its own.
 */
async function unlock(
  deps: UploadDeps,
  ticket: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const { uploadLinks, clock, log, isSecure, timeouts } = deps;
  const admission = await uploadLinks.admit(ticket);
  const { fileId, intent, expiresAt } = admission;
  const { principal, purpose } = intent;
  const tell = (outcome: string) =>
    log.info({ file: fileId, principal, server: purpose?.server, ...callerOf(incoming), outcome }, 'upload code');
  // one short form is read and nothing is stored: there is nothing to end for a client that has gone
  const { signal: never } = new AbortController();
  const code = await receivedUpload(deps, admission, { incoming, outgoing, until: never }, (bytes) =>
    codeInForm(bytes),
  );
  try {
    const pass = await uploadLinks.prove(admission, { code });
    tell('right');
    // an upload that has begun in time may go on for so long after its link has expired
    const cookie = passCookie(fileId, pass, (expiresAt - clock.now() + timeouts.upload) / 1000, isSecure());
    return new Response(null, { status: 303, headers: { location: `${ticket}?${UNLOCKED}`, 'set-cookie': cookie } });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    tell(error.code);
    if (error.code !== 'upload_code_wrong') throw error;
    return codeAsked({ kind: 'open', ...admission }, incoming.headers.accept, error);
  }
}

async function receive(
  deps: UploadDeps,
  named: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const { uploadLinks, library } = deps;
  const { accept } = incoming.headers;
  let isForSeveral = false;
  const records = await exchangeUpload(deps, incoming, outgoing, {
    ticket: named,
    admit: (ticket) => uploadLinks.admit(ticket),
    async run(_ticket, admission, gone) {
      isForSeveral = admission.intent.several !== undefined;
      const take = isForSeveral ? takeAll(deps, incoming, admission) : takeOne(deps, incoming, admission);
      return receivedUpload(deps, admission, { incoming, outgoing, until: gone }, take);
    },
    recordsOf: (stored) => stored,
  });
  const [only] = isForSeveral ? [] : records;
  if (only) void deps.resumable?.passedBy(only);
  const files = records.map((record) => library.describe(record));
  return isForSeveral ? storedAll(files, accept) : stored(files[0] as DescribedFile, accept);
}

/** Takes a request's bytes. */
type Take = (bytes: AsyncIterable<Buffer>, signal: AbortSignal) => Promise<FileRecord[]>;

function takeOne({ uploads }: UploadDeps, incoming: IncomingMessage, admission: Admission): Take {
  const read = planUpload(incoming, admission);
  return async (bytes, signal) => [await uploads.receive(admission, read(bytes), signal)];
}

function takeAll({ uploads }: UploadDeps, incoming: IncomingMessage, admission: Admission): Take {
  const read = planUploads(incoming, admission);
  return (bytes, signal) => uploads.receiveAll(admission, read(bytes), signal);
}
