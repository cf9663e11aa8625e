/** The middle of the values; NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the share `q` (0 … 1) of the values lies, interpolated; NaN of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)];
  const high = sorted[Math.ceil(at)];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** A sample per contender per round; a contender that failed has `undefined` there. */
export type Samples<T> = Map<string, (T | undefined)[]>;

/**
 * Runs every contender once per round, A B C, B C A, C A B, …: on a shared machine the weather changes within
 * seconds, so only figures taken side by side compare. `warmUp` rounds come first and are not counted.
 */
export async function interleave<T>(
  names: readonly string[],
  rounds: number,
  sample: (name: string) => Promise<T | undefined>,
  warmUp = 1,
): Promise<Samples<T>> {
  const samples: Samples<T> = new Map(names.map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let place = 0; place < names.length; place += 1) {
      const name = names[(place + Math.max(round, 0)) % names.length];
      if (name === undefined) continue;
      const value = await sample(name);
      if (round >= 0) samples.get(name)?.push(value);
    }
  }
  return samples;
}

/** The median of one figure of a contender. */
export function middle<T>(samples: Samples<T>, name: string, figure: (sample: T) => number): number {
  return median((samples.get(name) ?? []).flatMap((sample) => (sample === undefined ? [] : [figure(sample)])));
}

/** The median over the rounds of `name`'s figure divided by `base`'s figure in the same round. */
export function ratio<T>(samples: Samples<T>, name: string, base: string, figure: (sample: T) => number): number {
  const bases = samples.get(base) ?? [];
  return median(
    (samples.get(name) ?? []).flatMap((sample, round) => {
      const other = bases[round];
      return sample === undefined || other === undefined ? [] : [figure(sample) / figure(other)];
    }),
  );
}
