/** One line of the verdict: what was promised, what came out. */
export interface Row {
  id: string;
  what: string;
  goal: string;
  measured: string;
  /** undefined: a figure without a goal. */
  ok: boolean | undefined;
}

/** What a case hands back: its verdict and the figures behind it. */
export interface Section {
  title: string;
  rows: Row[];
  /** Markdown: tables and remarks. */
  details: string[];
}

const MIB = 1024 * 1024;

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

/** `digits` decimals, or a dash when there is no figure. */
export function num(value: number, digits = 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** Bytes as whole MiB. */
export function mib(bytes: number): string {
  return num(bytes / MIB, 0);
}

/** A goal that is met at or below `most`; a figure that could not be taken (NaN) misses it. */
export function atMost(id: string, what: string, measured: number, most: number, unit = '', digits = 2): Row {
  const ok = measured <= most;
  return { id, what, goal: `≤ ${most}${unit}`, measured: `${num(measured, digits)}${unit}`, ok };
}

/** A goal that is met at or above `least`. */
export function atLeast(id: string, what: string, measured: number, least: number, unit = '', digits = 2): Row {
  const ok = measured >= least;
  return { id, what, goal: `≥ ${least}${unit}`, measured: `${num(measured, digits)}${unit}`, ok };
}

const verdict = (ok: boolean | undefined) => (ok === undefined ? '–' : ok ? 'ok' : '**no**');

/** The table of goals. */
export function verdictTable(rows: readonly Row[]): string {
  return table(
    ['#', 'case', 'goal', 'measured', ''],
    rows.map((row) => [row.id, row.what, row.goal, row.measured, verdict(row.ok)]),
  );
}
