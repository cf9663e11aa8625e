import { Hono } from 'hono';
import { asGatewayError, GatewayError } from '../../errors.js';
import { ADVICE } from '../../explain/advice.js';
import { jsonIn } from '../../json/text.js';
import { isObject } from '../../json/value.js';
import { eraOf } from '../../mcp/era.js';
import { paramHeadersFor } from '../../mcp/param-headers.js';
import type { ConsoleUser } from '../../ports/console.js';
import type { JsonObject } from '../../ports/json.js';
import { CLIENT_GONE } from '../client-gone.js';
import { consolePage, WITH_PICTURES } from '../console/console-layout.js';
import type { ConsoleSources } from '../console/facts.js';
import type { Problem } from '../console/problem.js';
import type { Outcome } from '../console/result-view.js';
import { ServerPage } from '../console/server-page.js';
import type { FormState } from '../console/try-form.js';
import { NoTryPage, TryPage } from '../console/try-page.js';
import { type CurlCall, curlCall, type SentFile } from '../console/trying/curl-call.js';
import { effectOf } from '../console/trying/effect.js';
import { argumentsOf } from '../console/trying/form-arguments.js';
import { type FormDeps, readForm, type SentForm } from '../console/trying/form-body.js';
import { shownResult } from '../console/trying/shown-result.js';
import { formOf } from '../console/trying/tool-form.js';
import type { Trials, Tried, TriedTool, Visit } from '../console/trying/trials.js';
import { requestText } from '../short-body.js';
import type { ConsoleAccess, ConsoleContext, ConsoleEnv } from './console-access.js';

export interface TryDeps {
  trials: Trials;
  form: FormDeps;
  /** Whether callers of the public port need a key or a token. */
  asksKey: () => boolean;
}

interface RouteDeps extends TryDeps {
  access: ConsoleAccess;
  sources: Pick<ConsoleSources, 'servers'>;
}

/** Most bytes of a call as JSON. */
const MAX_BODY = 4 * 1024 * 1024;

/** A server's tools, and what an operator does with one: pages, and the same as JSON. */
export function tryRoutes(deps: RouteDeps): Hono<ConsoleEnv> {
  const { access, trials } = deps;
  const app = new Hono<ConsoleEnv>();
  app.get(
    '/servers/:server',
    access.shown((user, c) => serverPage(deps, user, c)),
  );
  app.get(
    '/servers/:server/try',
    access.shown(async (user, c) => {
      const { server, tool } = placeIn(c);
      return onPage(deps, { user, server }, async () => {
        const found = await toolFor(deps, visitOf(c, user), tool);
        return consolePage(<TryPage user={user} server={server} tool={found} {...emptyForm(found)} />);
      });
    }),
  );
  app.post(
    '/servers/:server/try',
    access.done(async (user, c) => {
      const { server, tool } = placeIn(c);
      return onPage(deps, { user, server }, async () => {
        const visit = visitOf(c, user);
        const found = await toolFor(deps, visit, tool);
        return tried(deps, { user, visit, tool: found }, c);
      });
    }),
  );
  app.get(
    '/api/servers/:server/tools',
    access.told(async (c, user) => {
      const { server } = placeIn(c);
      refuseUntriable(deps, server);
      const { tools, isCut } = await trials.tools(visitOf(c, user));
      return { tools: tools.map(toolAsData), isCut };
    }),
  );
  app.post('/api/servers/:server/call', async (c) => {
    const user = access.operatorOf(c);
    const { server } = placeIn(c);
    const visit = visitOf(c, user);
    const { tool, args, isConfirmed } = callIn(
      await requestText(
        c.env.incoming,
        {
          principal: trials.identityOf(user.name).principal,
          most: MAX_BODY,
          reason: `a call has at most ${MAX_BODY} bytes`,
        },
        deps.form,
      ),
    );
    const found = await toolFor(deps, visit, tool);
    if (effectOf(found.declared).isDestructive && !isConfirmed)
      throw new GatewayError('request_invalid', { reason: 'this tool may destroy something: "confirm" must be true' });
    const made = await trials.call(visit, found, args);
    const curl = curlCall(curlFor(deps, { server, tool: found, args, files: [] }, made.version));
    return c.json({ ...made, curl }, 200, { 'cache-control': 'no-store' });
  });
  return app;
}

interface Place {
  server: string;
  tool: string;
}

const placeIn = ({ req }: ConsoleContext): Place => ({
  server: req.param('server') ?? '',
  tool: req.query('tool') ?? '',
});

function visitOf(c: ConsoleContext, { name }: ConsoleUser): Visit {
  const { incoming, outgoing } = c.env;
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort(CLIENT_GONE));
  return { user: name, address: incoming.socket.remoteAddress, server: placeIn(c).server, gone: gone.signal };
}

/** @throws GatewayError `server_unknown`, `request_invalid` */
function refuseUntriable({ sources, trials }: RouteDeps, server: string): void {
  if (!sources.servers().some(({ name }) => name === server)) throw new GatewayError('server_unknown', { server });
  const reason = trials.whyNot(server);
  if (reason !== undefined) throw new GatewayError('request_invalid', { reason });
}

async function toolFor(deps: RouteDeps, visit: Visit, tool: string): Promise<TriedTool> {
  refuseUntriable(deps, visit.server);
  return deps.trials.tool(visit, tool);
}

/** Makes a page, or one that says in a sentence why it cannot be made. */
async function onPage(
  deps: RouteDeps,
  { user, server }: { user: ConsoleUser; server: string },
  make: () => Promise<Response>,
): Promise<Response> {
  try {
    return await make();
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') throw thrown;
    const isKnown = error.code !== 'server_unknown';
    return consolePage(
      <NoTryPage user={user} server={server} problem={problemOf(deps, error, { user, server })} isKnown={isKnown} />,
      error.httpStatus,
    );
  }
}

/** Tells an operator about an error, names the setting behind it, and says what to do. */
function problemOf(
  { trials }: RouteDeps,
  { code, facts, forOperator }: GatewayError,
  { user, server }: { user: ConsoleUser; server: string },
): Problem {
  if (code === 'server_forbidden') return { text: trials.whyForbidden(user.name, server), todo: undefined };
  const isOwn = code === 'request_invalid' && typeof facts.reason === 'string';
  if (isOwn && facts.reason === trials.whyNot(server)) return { text: String(facts.reason), todo: undefined };
  return { text: forOperator, todo: ADVICE[code].todo };
}

async function serverPage(deps: RouteDeps, user: ConsoleUser, c: ConsoleContext): Promise<Response> {
  const { sources, trials } = deps;
  const { server } = placeIn(c);
  return onPage(deps, { user, server }, async () => {
    const known = sources.servers().find(({ name }) => name === server);
    if (!known) throw new GatewayError('server_unknown', { server });
    const about = { user, server, url: known.mcp(), place: known.place };
    try {
      refuseUntriable(deps, server);
      const found = await trials.tools(visitOf(c, user));
      return consolePage(<ServerPage {...about} found={found} problem={undefined} />);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      const problem = problemOf(deps, error, { user, server });
      return consolePage(<ServerPage {...about} found={undefined} problem={problem} />);
    }
  });
}

function emptyForm(tool: TriedTool): FormState {
  return { form: formOf(tool), values: new Map(), others: '', problems: new Map() };
}

/** Reads the form and makes the call, and shows what came of it beside the form. */
async function tried(
  deps: RouteDeps,
  { user, visit, tool }: { user: ConsoleUser; visit: Visit; tool: TriedTool },
  c: ConsoleContext,
): Promise<Response> {
  const { trials } = deps;
  const { server, address, gone } = visit;
  const form = formOf(tool);
  const identity = trials.identityOf(user.name);
  const sender = { identity, server, address };
  const sent = await readForm(c.env.incoming, { fields: form.fields, sender, gone }, deps.form);
  const page = (state: Partial<Parameters<typeof TryPage>[0]>, status = 200) =>
    consolePage(
      <TryPage user={user} server={server} tool={tool} {...emptyForm(tool)} {...state} />,
      status,
      WITH_PICTURES,
    );
  if (sent.shape !== form.shape) {
    await sent.withdraw();
    return page({ problem: 'The tool has changed since this form was made, so it was not called.' }, 409);
  }
  const { args, problems } = argumentsOf(form.fields, sent);
  const isConfirmed = sent.isConfirmed || !effectOf(tool.declared).isDestructive;
  const all = new Map<number | 'others' | 'confirm', string>(problems);
  if (!isConfirmed) all.set('confirm', 'The tool is only called when this is ticked.');
  const filled = { values: sent.values, others: sent.others };
  if (all.size > 0) return page({ ...filled, problems: all, problem: 'The tool was not called.' }, 400);
  const files = await filesSent(deps, form.fields, sent, user);
  const curlAt = (version: string) => curlCall(curlFor(deps, { server, tool, args, files }, version));
  try {
    const made = await trials.call(visit, tool, args);
    return page({ ...filled, outcome: outcomeOf(made, curlAt(made.version)) });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') throw thrown;
    const said = problemOf(deps, error, { user, server });
    const outcome = {
      result: undefined,
      error: said.text,
      ms: undefined,
      curl: curlAt(trials.versionAt(user.name, server)),
    };
    return page({ ...filled, outcome }, error.httpStatus);
  }
}

function outcomeOf({ result, error, ms }: Tried, curl: string | undefined): Outcome {
  return {
    result: result && shownResult(result),
    error: error && `${error.message} (${error.code})`,
    ms,
    curl,
  };
}

/** The files that stand in the form, by name: those that came with it, and those whose handles were written. */
async function filesSent(
  { trials, form: { library } }: RouteDeps,
  fields: ReturnType<typeof formOf>['fields'],
  { values, files }: SentForm,
  { name }: ConsoleUser,
): Promise<SentFile[]> {
  const { principal } = trials.identityOf(name);
  const written = fields.flatMap(({ kind }, index) => (kind === 'file' ? (values.get(index) ?? '').split(/\s+/) : []));
  const found = [...files];
  for (const handle of new Set(written)) {
    if (found.length >= MAX_NAMED || !library.claims(handle) || found.some((one) => one.handle === handle)) continue;
    const resolved = await library.resolve(handle, principal);
    if (resolved.kind === 'ready')
      found.push({ handle, name: resolved.record.name, mimeType: resolved.record.mimeType });
  }
  return found;
}

/** Most files whose names a command has. */
const MAX_NAMED = 20;

function curlFor(
  { sources, asksKey }: RouteDeps,
  { server, tool, args, files }: { server: string; tool: TriedTool; args: JsonObject; files: readonly SentFile[] },
  version: string,
): CurlCall {
  const url =
    sources
      .servers()
      .find(({ name }) => name === server)
      ?.mcp() ?? '';
  const { hasSessions } = eraOf(version);
  const headers = paramHeadersFor(tool.paramHeaders, args);
  return { url, asksKey: asksKey(), version, hasSessions, tool: tool.name, args, headers, files };
}

function toolAsData({ declared, slots }: TriedTool): JsonObject {
  const { name = '', title, description, inputSchema, outputSchema, annotations } = declared;
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    mayDestroy: effectOf(declared).isDestructive,
    files: slots.map(({ slot: { path }, most }) => ({
      path: [...path],
      ...(Number.isFinite(most) && { largest: most }),
    })),
  };
}

/** @throws GatewayError `request_invalid` */
function callIn(text: string): { tool: string; args: JsonObject; isConfirmed: boolean } {
  const body = jsonIn(text);
  const { tool, arguments: args = {}, confirm } = isObject(body) ? body : {};
  if (typeof tool !== 'string' || !isObject(args))
    throw new GatewayError('request_invalid', { reason: 'a call is {"tool": "…", "arguments": {…}}' });
  return { tool, args, isConfirmed: confirm === true };
}
