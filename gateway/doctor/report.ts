import { type ConfigProblem, withValue } from '../config/problems.js';
import { countText } from '../policy/amounts.js';
import type { Found } from './check.js';

const SIGNS = { ok: '✓', warning: '!', failed: '✗', skipped: '–' } as const;

/** Characters of the column of titles: the name of a server may be longer, and then moves its own line alone. */
const MOST_WIDTH = 34;

/** One line per check, grouped, and below it what to do. */
export function doctorText(found: readonly Found[]): string {
  const groups = [...new Set(found.map(({ group }) => group))];
  const width = Math.max(...found.map(({ title }) => title.length).filter((length) => length <= MOST_WIDTH), 0);
  const lines = groups.flatMap((group) => [
    group,
    ...found
      .filter((one) => one.group === group)
      .flatMap(({ state, title, text, todo }) => [
        `  ${SIGNS[state]} ${title.padEnd(width)}  ${text}`,
        ...(todo !== undefined && (state === 'failed' || state === 'warning')
          ? [`    ${' '.repeat(width)}  → ${todo}`]
          : []),
      ]),
  ]);
  const count = (state: Found['state']) => found.filter((one) => one.state === state).length;
  return `${[...lines, '', `${count('ok')} ok, ${countText(count('warning'), 'warning')}, ${count('failed')} failed`].join('\n')}\n`;
}

/** What programs read. */
export function doctorJson(found: readonly Found[]): string {
  const isWell = found.every(({ state }) => state !== 'failed');
  return `${JSON.stringify({ ok: isWell, checks: found }, null, 2)}\n`;
}

/** What is found of a config that cannot be read. */
export function unread(problems: readonly ConfigProblem[]): Found[] {
  return problems.map(({ path, ...found }) => {
    const todo = 'Correct it; "wharf check" shows what is allowed.';
    return { group: 'config', title: path, state: 'failed', text: withValue(found), todo, ms: 0 };
  });
}
