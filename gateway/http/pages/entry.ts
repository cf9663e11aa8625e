import { KEY } from './host-lines.js';

/** How callers are let in, as the pages for them say it. */
export type Entry = 'open' | 'keys' | 'login' | 'login or keys';

const LOGIN = 'Callers log in here: most clients open a browser for that by themselves.';

const TEXTS: Readonly<Record<Exclude<Entry, 'open'>, string>> = {
  keys:
    `Callers have keys here. Put yours in the place of ${KEY} below. The operator of this gateway gives it to you, with the ` +
    'names of its servers.',
  login: `${LOGIN} The operator of this gateway tells you the names of its servers.`,
  'login or keys':
    `${LOGIN} A program that has a key of this gateway sends it in the header “Authorization: Bearer ${KEY}” instead. The ` +
    'operator gives you the names of its servers, and keys.',
};

/** What a person must know to be let in; undefined where every caller is. */
export function entryText(entry: Entry): string | undefined {
  return entry === 'open' ? undefined : TEXTS[entry];
}
