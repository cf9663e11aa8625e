import type { Metric } from 'prom-client';

interface HistogramSettings {
  name: string;
  help: string;
  labels: readonly string[];
  /** Upper ends, rising. */
  buckets: readonly number[];
}

/** What was observed with one combination of labels. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** By the first bucket that a value fits into; the last is for those that fit into none. */
  readonly counts: number[];
  sum: number;
}

/** Separates the values of labels in a key; no server, operation or code has it. */
const BETWEEN = '\0';

/**
 * A histogram whose labels are looked up once by code that observes often: prom-client's own sorts and checks them at every
 * observation, which takes longer than all else that is counted of a short call.
 */
export class Histogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #labels: readonly string[];
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor({ name, help, labels, buckets }: HistogramSettings) {
    this.name = name;
    this.help = help;
    this.#labels = labels;
    this.#buckets = buckets;
  }

  /** @returns what observes values with these labels */
  bind(labels: Readonly<Record<string, string>>): (value: number) => void {
    const series = this.#seriesOf(labels);
    return (value) => this.#add(series, value);
  }

  observe(labels: Readonly<Record<string, string>>, value: number): void {
    this.#add(this.#seriesOf(labels), value);
  }

  /** For the registry, which asks at every scrape. */
  async get() {
    const values = [...this.#series.values()].flatMap((series) => this.#valuesOf(series));
    return { name: this.name, help: this.help, type: this.type, values, aggregator: 'sum' };
  }

  /** The registry only calls `get`, but its type asks for a metric of prom-client. */
  get forRegistry(): Metric {
    return this as unknown as Metric;
  }

  #add(series: Series, value: number): void {
    let at = 0;
    while (at < this.#buckets.length && value > (this.#buckets[at] as number)) at += 1;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
  }

  #seriesOf(labels: Readonly<Record<string, string>>): Series {
    const key = this.#labels.map((label) => labels[label] ?? '').join(BETWEEN);
    let series = this.#series.get(key);
    if (!series) {
      series = { labels: { ...labels }, counts: Array.from({ length: this.#buckets.length + 1 }, () => 0), sum: 0 };
      this.#series.set(key, series);
    }
    return series;
  }

  /** Each bucket counts what fits into it: also what fits into a smaller one. */
  #valuesOf({ labels, counts, sum }: Series) {
    let count = 0;
    const buckets = counts.map((own, index) => {
      count += own;
      return {
        metricName: `${this.name}_bucket`,
        labels: { le: this.#buckets[index] ?? '+Inf', ...labels },
        value: count,
      };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
