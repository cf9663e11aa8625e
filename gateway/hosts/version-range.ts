const COMPARATOR = /^(>=|<=|>|<|=)?(\d+(?:\.\d+){0,3})$/;

/** Digits that a version has; further ones do not decide. */
const PARTS = 4;

/** True for comparators separated by blanks, such as `>=1.2 <2`. */
export function isVersionRange(text: string): boolean {
  return text.length > 0 && text.split(' ').every((one) => COMPARATOR.test(one));
}

/** True when a version is in a range. What follows the numbers (`-beta.1`) does not count; an unreadable one is in none. */
export function isInRange(version: string | undefined, range: string): boolean {
  const actual = version === undefined ? undefined : numbersOf(version);
  if (!actual) return false;
  return range.split(' ').every((one) => {
    const [, sign = '=', bound = ''] = COMPARATOR.exec(one) ?? [];
    const order = compare(actual, numbersOf(bound) ?? []);
    switch (sign) {
      case '>=':
        return order >= 0;
      case '<=':
        return order <= 0;
      case '>':
        return order > 0;
      case '<':
        return order < 0;
      default:
        return order === 0;
    }
  });
}

function numbersOf(version: string): number[] | undefined {
  const found = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})/.exec(version)?.[1];
  return found?.split('.').map(Number);
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < PARTS; at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
