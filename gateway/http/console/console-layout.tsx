import { createHash } from 'node:crypto';
import type { Child } from 'hono/jsx';
import type { ConsoleUser } from '../../ports/console.js';
import { shown } from '../browser/shown.js';
import { Mark } from '../pages/icons.js';
import { CONSOLE_STYLE } from './console-style.js';

const STYLE_HASH = createHash('sha256').update(CONSOLE_STYLE).digest('base64');

/** No script at all, this one style, and forms to this port alone. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of a page with pictures, which are in the page itself. */
export const WITH_PICTURES = { 'content-security-policy': `${POLICY}; img-src data:` };

/** The pages, in the order of the menu. */
const PLACES = [
  ['/', 'Overview'],
  ['/servers', 'Servers'],
  ['/sessions', 'Sessions'],
  ['/stored', 'Files'],
  ['/refusals', 'Refusals'],
  ['/audit', 'Audit'],
  ['/config', 'Config'],
] as const;

type Place = (typeof PLACES)[number][0];

/** Whether a user may do more than look. */
export const mayAct = ({ role }: ConsoleUser): boolean => role !== 'viewer';

/** `2026-11-22 21:04:09 UTC` */
export function timeOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** A page as an answer, which is kept nowhere. */
export function consolePage(
  content: { toString(): string },
  status = 200,
  headers: Record<string, string> = {},
): Response {
  return new Response(`<!doctype html>${content}`, {
    status,
    headers: {
      'content-security-policy': POLICY,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    },
  });
}

function Page({ title, children }: { title: string; children: Child }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        {/* Under no-referrer a browser posts a form with "Origin: null", which no guard can let in. */}
        <meta name="referrer" content="same-origin" />
        <title>{`${title} · Wharf`}</title>
        <style dangerouslySetInnerHTML={{ __html: CONSOLE_STYLE }} />
      </head>
      <body>{children}</body>
    </html>
  );
}

interface LayoutProps {
  place: Place;
  user: ConsoleUser;
  /** Of a page below that place. */
  below?: string;
  children: Child;
}

/** A page of the console, with its menu. */
export function ConsoleLayout({ place, user, below, children }: LayoutProps) {
  const title = below ?? PLACES.find(([path]) => path === place)?.[1] ?? '';
  return (
    <Page title={title}>
      <header>
        <p class="brand">
          <Mark size={20} />
          Wharf
        </p>
        <nav aria-label="Console">
          {PLACES.map(([path, name]) => (
            <a href={path} aria-current={path !== place ? undefined : below === undefined ? 'page' : 'true'}>
              {name}
            </a>
          ))}
        </nav>
        <form method="post" action="/logout">
          <span>
            {user.name} ({user.role})
          </span>
          <button type="submit" class="second">
            Log out
          </button>
        </form>
      </header>
      <main>
        <h1>{title}</h1>
        {children}
      </main>
    </Page>
  );
}

/** A page that cannot be made, or where something could not be done, and why. @param path of the request */
export function ProblemPage({ user, path, problem }: { user: ConsoleUser; path: string; problem: string }) {
  const isBelow = ([place]: readonly [Place, string]) => path === place || path.startsWith(`${place}/`);
  return (
    <ConsoleLayout place={PLACES.find(isBelow)?.[0] ?? '/'} user={user}>
      <p class="problem">{problem}</p>
    </ConsoleLayout>
  );
}

/** The one thing on a page that has no menu. */
function Card({ children }: { children: Child }) {
  return (
    <main>
      <div class="login">
        <h1 class="brand">
          <Mark size={20} />
          Wharf console
        </h1>
        {children}
      </div>
    </main>
  );
}

/** The page that asks for a key. @param to the page that is shown after it */
export function KeyPage({ problem, to }: { problem?: string | undefined; to?: string | undefined }) {
  return (
    <Page title="Log in">
      <Card>
        {problem !== undefined && (
          <p class="problem" role="alert" id="problem">
            {problem}
          </p>
        )}
        <form method="post" action="/login">
          {to !== undefined && <input type="hidden" name="to" value={to} />}
          <label for="key">Your key for the console</label>
          <input
            id="key"
            name="key"
            type="password"
            required
            maxlength={512}
            autocomplete="current-password"
            aria-describedby={problem === undefined ? undefined : 'problem'}
          />
          <button type="submit">Log in</button>
        </form>
      </Card>
    </Page>
  );
}

/** The page of a console that has no users: what to write into the config. */
export function NoUsersPage() {
  return (
    <Page title="Not set up">
      <Card>
        <p>
          The console has no users yet. Make a key, keep it to log in with, and put its hash, the second line, into the
          config:
        </p>
        <p>
          <code>KEY=$(openssl rand -hex 32); echo "$KEY"; printf %s "$KEY" | sha256sum</code>
        </p>
        <p>
          <code>{'console: { users: [{ name: ann, hash: "sha256:…", role: operator }] }'}</code>
        </p>
        <p class="soft">
          Health is at <a href="/readyz">/readyz</a>, metrics at <a href="/metrics">/metrics</a>.
        </p>
      </Card>
    </Page>
  );
}

/** Characters of a peer's text in a table. */
const MOST_TOLD = 600;

/** A text that a peer has chosen: what hides or turns around in it is seen, and what stands beside it stays as it is. */
export function Told({ text, most = MOST_TOLD }: { text: string | undefined; most?: number }) {
  return text === undefined ? null : <bdi>{shown(text, most)}</bdi>;
}

/** Several lines of a peer's, for an element that keeps them. */
export function toldLines(text: string, most: number): string {
  const cut = text.length <= most ? text : `${text.slice(0, most)}…`;
  return cut
    .split('\n')
    .map((line) => shown(line, most + 1))
    .join('\n');
}

/** A table that scrolls by itself where it is wider than the screen. */
export function Table({
  name,
  heads,
  rows,
  none,
}: {
  name: string;
  heads: readonly string[];
  rows: readonly Child[];
  none: string;
}) {
  if (rows.length === 0) return <p class="soft">{none}</p>;
  return (
    <section class="wide" aria-label={name} tabindex={0}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>{rows}</tbody>
      </table>
    </section>
  );
}
