import type { Expected } from './expected.js';
import type { Outcome } from './suite.js';

/** One check that does not end the same way directly and through Wharf. */
export interface Difference {
  scenario: string;
  check: string;
  /** Statuses with their count, such as `SUCCESS ×2`; `not run` without any. */
  direct: string;
  through: string;
  reason?: string;
}

/** The check's statuses in one outcome, in a fixed order. */
function statuses(outcome: Outcome | undefined, check: string): string {
  const found: string[] = [];
  for (const [key, times] of outcome ?? []) {
    const [id, status] = key.split(' ') as [string, string];
    if (id === check) found.push(times === 1 ? status : `${status} ×${times}`);
  }
  return found.sort().join(', ') || 'not run';
}

/** Every check of every scenario that differs, those in `expected` with their reason. */
export function differences(
  direct: ReadonlyMap<string, Outcome>,
  through: ReadonlyMap<string, Outcome>,
  expected: readonly Expected[],
): Difference[] {
  const result: Difference[] = [];
  for (const scenario of new Set([...direct.keys(), ...through.keys()])) {
    const [one, other] = [direct.get(scenario), through.get(scenario)];
    const checks = new Set([...(one?.keys() ?? []), ...(other?.keys() ?? [])].map((key) => key.split(' ')[0] ?? key));
    for (const check of checks) {
      const difference = { scenario, check, direct: statuses(one, check), through: statuses(other, check) };
      if (difference.direct === difference.through) continue;
      const reason = expected.find((row) => row.scenario === scenario && row.checks.includes(check))?.reason;
      result.push(reason === undefined ? difference : { ...difference, reason });
    }
  }
  return result;
}

/** Expected rows, among those given, that no difference bears out now. */
export function unused(expected: readonly Expected[], found: readonly Difference[]): Expected[] {
  return expected.filter(
    (row) => !found.some(({ scenario, check }) => scenario === row.scenario && row.checks.includes(check)),
  );
}

/** `passed/failed` of one outcome, for the table. */
export function score(outcome: Outcome | undefined): string {
  if (outcome === undefined) return '-';
  let [passed, failed] = [0, 0];
  for (const [key, times] of outcome) {
    if (key.endsWith(' SUCCESS')) passed += times;
    else if (key.endsWith(' FAILURE')) failed += times;
  }
  return `${passed}/${failed}`;
}

/** Whether a check of the outcome passed, and none failed: a scenario whose checks were all skipped has shown nothing. */
export function hasPassed(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && !hasFailed(outcome) && [...outcome.keys()].some((key) => key.endsWith(' SUCCESS'));
}

/** Whether any check of the outcome failed. */
export function hasFailed(outcome: Outcome): boolean {
  return [...outcome.keys()].some((key) => key.endsWith(' FAILURE'));
}
