/** Separates the values of labels in a key; no server, operation or code has it. */
const BETWEEN = '\0';

export type Labels = Readonly<Record<string, string>>;

/**
 * What a metric keeps, one value for each combination of its labels. prom-client's own metrics sort and check the labels
 * at every observation, which takes longer than all else that is counted of a short call.
 */
export class SeriesByLabels<Series> {
  readonly #names: readonly string[];
  readonly #make: (labels: Labels) => Series;
  readonly #known = new Map<string, Series>();

  /** @param names of the labels, in the order in which they make the key */
  constructor(names: readonly string[], make: (labels: Labels) => Series) {
    this.#names = names;
    this.#make = make;
  }

  of(labels: Labels): Series {
    let key = '';
    for (const name of this.#names) key += `${labels[name] ?? ''}${BETWEEN}`;
    let series = this.#known.get(key);
    if (series === undefined) {
      series = this.#make({ ...labels });
      this.#known.set(key, series);
    }
    return series;
  }

  values(): Series[] {
    return [...this.#known.values()];
  }
}
