import { createHash } from 'node:crypto';
import type { Child } from 'hono/jsx';
import type { PageData } from '../browser/page-data.js';
import { TEXTS } from '../browser/texts.js';
import { Mark } from './icons.js';
import { STYLE } from './style.js';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Allows only this style and Wharf's own script (a stored file is never served as one: `safeMediaType`), and images
 * only if the script makes them from a chosen file. The form and the script may only contact their own origin, and no
 * other page may frame this one. The script never turns texts into markup, which browsers enforce where they can.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${STYLE_HASH}'`,
  'img-src blob:',
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** How a page ended, for pages that say so. */
export type Mood = 'good' | 'bad' | 'calm';

/** A page with a script. */
interface Script {
  /** Addresses relative to the page's: the first module, then its imports. */
  modules: readonly string[];
  /** What the script needs to know. */
  data?: PageData;
}

/** One page. Every text in it is escaped. */
export function Layout({ title, script, children }: { title: string; script?: Script; children: Child }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        {/* Under the header's no-referrer a browser posts a form with "Origin: null", which no guard can let in. */}
        <meta name="referrer" content="same-origin" />
        <title>{`${title} · ${TEXTS.product}`}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
        {script?.modules.map((path, at) =>
          at === 0 ? <script type="module" src={path} /> : <link rel="modulepreload" href={path} />,
        )}
      </head>
      <body>
        <main data-upload={script?.data && JSON.stringify(script.data)}>
          <p class="brand">
            <Mark size={22} />
            {TEXTS.product}
          </p>
          {children}
        </main>
      </body>
    </html>
  );
}

/** An outcome: the whole content of a page that asks for nothing. */
export function State({ mood, title, children }: { mood: Mood; title: string; children: Child }) {
  return (
    <div class={`state ${mood}`}>
      <h1 tabindex={-1}>{title}</h1>
      {children}
    </div>
  );
}

/** A term and its value, as rows of a `dl`. */
export function Row({ term, children }: { term: string; children: Child }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}
