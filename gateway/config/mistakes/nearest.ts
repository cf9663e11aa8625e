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

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
