import { Hono } from 'hono';
import { GatewayError } from '../../errors.js';
import { digestIn } from '../../files/control/digest-text.js';
import { isFileId } from '../../files/handles/handle.js';
import { UNKNOWN } from '../../identity/identities.js';
import type { ConsoleUser } from '../../ports/console.js';
import { sessionTag } from '../../relay/exchange-log.js';
import { consolePage, KeyPage, NoUsersPage } from '../console/console-layout.js';
import { type ConsoleLogins, NO_COOKIE } from '../console/console-logins.js';
import { type ConsoleSources, MAX_SESSIONS, overviewOf, serversOf, sessionsOf } from '../console/facts.js';
import { FILE_ACTIONS, type FileAction, FilesPage } from '../console/files-page.js';
import { ConfigPage, ServersPage, SessionsPage } from '../console/list-pages.js';
import { LoginForms } from '../console/login-forms.js';
import { OverviewPage } from '../console/overview-page.js';
import { RefusalsPage } from '../console/refusals-page.js';
import { takesText } from '../origin/browser-request.js';
import { type BodyWatch, requestText } from '../short-body.js';
import { fileJson } from './admin-files.js';
import {
  ConsoleAccess,
  type ConsoleContext,
  type ConsoleEnv,
  isVisit,
  loginPage,
  placeAfter,
} from './console-access.js';
import { auditCsv, auditJson, auditPage } from './console-audit.js';
import { type TryDeps, tryRoutes } from './console-try.js';

export interface ConsoleDeps {
  /** Undefined: the console has no users, so nothing is shown. */
  logins: ConsoleLogins | undefined;
  sources: Omit<ConsoleSources, 'readiness'>;
  /** What operators try tools with. */
  trying: TryDeps;
}

/** Bytes of a form of the console. */
const MAX_FORM = 2048;

/** Files on one page, and characters of what they are searched by. */
const ON_PAGE = 50;
const MAX_NAME = 1024;

const isAction = (text: string): text is FileAction => FILE_ACTIONS.some((action) => action === text);

/** What a console without users says in a terminal. */
const NO_USERS = `This is the admin port of Wharf. Health is at /readyz, metrics at /metrics.
The console has no users yet: opened in a browser, this page says how to make one.
`;

/** Refusals on the first page. */
const NEWEST = 5;

/**
 * The operator's pages, made on the server, without a script; the same as JSON below `/api`. A viewer reads, an operator
 * may act. A form is taken from this port's own pages alone: the guard checks Origin, and the cookie is of the same site.
 */
export function consoleRoutes({
  logins,
  sources,
  trying,
}: Pick<ConsoleDeps, 'logins' | 'trying'> & { sources: ConsoleSources }): Hono<ConsoleEnv> {
  if (!logins) return withoutUsers();
  const access = new ConsoleAccess(logins);
  const app = new Hono<ConsoleEnv>();
  app.route('/', pages(access, sources));
  app.route('/', changes(access, sources, trying));
  app.route('/', loggingIn(logins, trying.form));
  app.route('/api', asJson(access, sources));
  app.route('/', tryRoutes({ access, sources, ...trying }));
  return app;
}

function withoutUsers(): Hono<ConsoleEnv> {
  return new Hono<ConsoleEnv>().get('/', (c) => {
    if (isVisit(c)) return consolePage(<NoUsersPage />);
    return takesText(c.env.incoming.headers) ? c.text(NO_USERS) : c.notFound();
  });
}

/** What a viewer sees. */
function pages(access: ConsoleAccess, sources: ConsoleSources): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();
  const page = (path: string, ...shown: Parameters<ConsoleAccess['shown']>) => app.get(path, access.shown(...shown));
  page('/', async (user) => {
    const lately = sources.lately().slice(0, NEWEST);
    return <OverviewPage user={user} overview={await overviewOf(sources)} lately={lately} />;
  });
  page('/servers', async (user) => <ServersPage user={user} servers={await serversOf(sources)} />);
  page('/sessions', async (user) => {
    const more = Math.max(0, sources.sessions().length - MAX_SESSIONS);
    return <SessionsPage user={user} sessions={sessionsOf(sources, sessionTag)} more={more} />;
  });
  page('/refusals', async (user) => <RefusalsPage user={user} lately={sources.lately()} />);
  page('/config', async (user) => <ConfigPage user={user} settings={sources.config()} />);
  page('/audit', (user, { req }) => auditPage(user, sources, req.query()));
  page('/stored', async (user, { req }) => {
    const search = searchIn(req.query());
    const { filter } = search;
    const problem = filter.digest !== undefined && digestIn(filter.digest) === undefined ? NO_DIGEST : undefined;
    const found = problem === undefined ? await filesFor(sources, search) : { files: [] };
    const next = found.next === undefined ? undefined : `/stored?${queryOf({ filter, after: found.next })}`;
    return (
      <FilesPage user={user} filter={filter} found={found} query={queryOf(search)} next={next} problem={problem} />
    );
  });
  app.get('/audit.csv', async (c) => {
    access.userOf(c);
    return auditCsv(sources.audit, c.req.query());
  });
  return app;
}

/** What an operator does by a form: each answers with the page to go to. */
function changes(access: ConsoleAccess, sources: ConsoleSources, { trials, form: watch }: TryDeps): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();
  type Work = (form: URLSearchParams, user: ConsoleUser, c: ConsoleContext) => Promise<string>;
  const form = (path: string, work: Work) =>
    app.post(
      path,
      access.done(async (user, c) => {
        const given = await formOf(c, trials.identityOf(user.name).principal, watch);
        return moved(await work(given, user, c));
      }),
    );
  form('/stored/change', async (given, { name }, { req }) => {
    const [id, action] = [given.get('id') ?? '', given.get('action') ?? ''];
    if (!isFileId(id) || !isAction(action)) throw new GatewayError('request_invalid', { reason: 'not a change' });
    if (action !== 'remove') await sources.files.change(id, action, name);
    else if ((await sources.files.remove(id, name)) === 'held') throw new GatewayError('file_held');
    return `/stored?${queryOf(searchIn(req.query()))}`;
  });
  form('/sessions/end', async (given, { name }) => {
    const tag = given.get('session');
    const found = sources.sessions().find(({ id }) => sessionTag(id) === tag);
    if (found) await sources.endSession(found, name);
    return '/sessions';
  });
  return app;
}

function loggingIn(logins: ConsoleLogins, watch: BodyWatch): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();
  const forms = new LoginForms();
  app.get('/login', () => consolePage(<KeyPage />));
  app.post('/login', async (c) => {
    const { remoteAddress = '' } = c.env.incoming.socket;
    let to: string | undefined;
    try {
      const form = await forms.read(remoteAddress, (signal) => formOf(c, UNKNOWN.principal, watch, signal));
      to = placeAfter(form.get('to'));
      return moved(to, await logins.logIn(form.get('key') ?? '', remoteAddress));
    } catch (error) {
      return loginPage(error, c, to);
    }
  });
  app.post('/logout', () => moved('/login', NO_COOKIE));
  return app;
}

/** What the pages show, for programs. */
function asJson(access: ConsoleAccess, sources: ConsoleSources): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();
  const facts = (path: string, ...told: Parameters<ConsoleAccess['told']>) => app.get(path, access.told(...told));
  facts('/overview', () => overviewOf(sources));
  facts('/servers', () => serversOf(sources));
  facts('/sessions', () => sessionsOf(sources, sessionTag));
  facts('/refusals', () => sources.lately());
  facts('/stored', async ({ req }) => {
    const { files, ...rest } = await filesFor(sources, searchIn(req.query()));
    return { files: files.map(fileJson), ...rest };
  });
  facts('/audit', ({ req }) => auditJson(sources.audit, req.query()));
  facts('/config', () => sources.config());
  return app;
}

/** To who looks for what no file can have. */
const NO_DIGEST =
  'This is not a digest: it has 64 hexadecimal digits, as sha256sum prints it, or is the same in base64url.';

/** Which files are looked for, and the id behind which they begin. */
interface Search {
  filter: Record<string, string>;
  after: string;
}

function searchIn({ after = '', ...given }: Record<string, string>): Search {
  const named = ['principal', 'server', 'digest'].flatMap((name) =>
    given[name] ? [[name, given[name].slice(0, MAX_NAME)]] : [],
  );
  return { filter: Object.fromEntries(named), after: isFileId(after) ? after : '' };
}

function filesFor({ files }: ConsoleSources, { filter, after }: Search) {
  const { digest } = filter;
  // what is not a digest finds nothing
  const meant = digest === undefined ? filter : { ...filter, digest: digestIn(digest) ?? digest };
  return files.search(meant, { after, limit: ON_PAGE });
}

function queryOf({ filter, after }: Search): string {
  return String(new URLSearchParams({ ...filter, ...(after !== '' && { after }) }));
}

/** To another page, with GET. */
function moved(location: string, cookie?: string): Response {
  return new Response(null, { status: 303, headers: { location, ...(cookie && { 'set-cookie': cookie }) } });
}

/** @param sender whose form it is. @throws GatewayError `request_invalid`, and those of a body that comes too slowly */
async function formOf(
  { env }: ConsoleContext,
  sender: string,
  watch: BodyWatch,
  signal?: AbortSignal,
): Promise<URLSearchParams> {
  const form = { principal: sender, most: MAX_FORM, reason: 'the form is too long', signal };
  return new URLSearchParams(await requestText(env.incoming, form, watch));
}
