import type { Metric } from 'prom-client';
import { type Labels, SeriesByLabels } from './series.js';

interface HistogramSettings {
  name: string;
  help: string;
  labels: readonly string[];
  /** Upper ends, rising. */
  buckets: readonly number[];
}

/** What was observed with one combination of labels. */
interface Series {
  readonly labels: Labels;
  /** By the first bucket that a value fits into; the last is for those that fit into none. */
  readonly counts: number[];
  sum: number;
}

/** A histogram whose labels are looked up once by code that observes often. */
export class Histogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #buckets: readonly number[];
  readonly #series: SeriesByLabels<Series>;

  constructor({ name, help, labels, buckets }: HistogramSettings) {
    this.name = name;
    this.help = help;
    this.#buckets = buckets;
    const empty = () => Array.from({ length: buckets.length + 1 }, () => 0);
    this.#series = new SeriesByLabels(labels, (own) => ({ labels: own, counts: empty(), sum: 0 }));
  }

  /** @returns what observes values with these labels */
  bind(labels: Labels): (value: number) => void {
    const series = this.#series.of(labels);
    return (value) => this.#add(series, value);
  }

  observe(labels: Labels, value: number): void {
    this.#add(this.#series.of(labels), value);
  }

  /** For the registry, which asks at every scrape. */
  async get() {
    const values = this.#series.values().flatMap((series) => this.#valuesOf(series));
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
