/** The known key closest to a mistyped one, if it is close enough. */
export function nearest(key: string, known: readonly string[]): string | undefined {
  const allowed = Math.ceil(Math.min(key.length, 40) / 3);
  let best: string | undefined;
  let least = allowed + 1;
  for (const candidate of known) {
    const d = distance(key.slice(0, 40).toLowerCase(), candidate.toLowerCase());
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

/** Names that are compared with a mistyped one, and letters of each: a server may have thousands, and this is 30 ms of work. */
const MOST_COMPARED = 200;
const LETTERS = 40;

/** The known names closest to a mistyped one, the closest first. */
export function nearestFirst(name: string, known: readonly string[], most: number): string[] {
  const begun = name.slice(0, LETTERS).toLowerCase();
  return known
    .slice(0, MOST_COMPARED)
    .map((one) => ({ one, far: distance(begun, one.slice(0, LETTERS).toLowerCase()) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ one }) => one);
}

/** How many letters are wrong, missing, too many, or in the place of their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (before[j - 2] ?? Number.POSITIVE_INFINITY) + 1
          : Number.POSITIVE_INFINITY;
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + same, swapped));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
