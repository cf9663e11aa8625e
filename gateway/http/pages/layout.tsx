import { createHash } from 'node:crypto';
import type { Child } from 'hono/jsx';

const STYLE = `
:root { color-scheme: light dark; --ink: #16202c; --soft: #5a6878; --line: #d7dee6; --paper: #fff; --ground: #f2f5f8; --sea: #0b5c8a; --bad: #a3261d; --good: #1b6e3c }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --soft: #9fb0c0; --line: #34414e; --paper: #1a222b; --ground: #11171d; --sea: #6db9e4; --bad: #ff8f85; --good: #7fd6a0 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 34rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: .5rem 0 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 1.25rem 0 }
dt { color: var(--soft) }
dd { margin: 0 }
code { font: .875rem ui-monospace, monospace }
label { display: block; margin: 1.25rem 0 .5rem; font-weight: 600 }
input { width: 100%; padding: 1rem; border: 2px dashed var(--line); border-radius: .5rem; background: var(--ground); color: inherit; font: inherit }
button { margin-top: 1rem; padding: .65rem 1.5rem; border: 0; border-radius: .5rem; background: var(--sea); color: var(--paper); font: inherit; font-weight: 600; cursor: pointer }
a { color: var(--sea) }
:focus-visible { outline: 3px solid var(--sea); outline-offset: 2px }
.bad h1 { color: var(--bad) }
.good h1 { color: var(--good) }
`;

/**
 * Nothing but this style is loaded or run, the form goes back to where it came from, and no other page may frame it.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** One page in words: whatever stands in it is text, escaped. */
export function Layout({ title, mood, children }: { title: string; mood?: 'good' | 'bad'; children: Child }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        {/* Under the header's no-referrer a browser posts a form with "Origin: null", which no guard can let in. */}
        <meta name="referrer" content="same-origin" />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
      </head>
      <body>
        <main class={mood}>
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
}
