import type { Metric } from 'prom-client';
import { type Labels, SeriesByLabels } from './series.js';

interface CounterSettings {
  name: string;
  help: string;
  labels: readonly string[];
}

/** What was counted with one combination of labels. */
interface Series {
  readonly labels: Labels;
  value: number;
}

/** A number that only rises, for each combination of its labels. */
export class Counter {
  readonly name: string;
  readonly help: string;
  readonly type = 'counter';
  readonly #series: SeriesByLabels<Series>;

  constructor({ name, help, labels }: CounterSettings) {
    this.name = name;
    this.help = help;
    this.#series = new SeriesByLabels(labels, (own) => ({ labels: own, value: 0 }));
  }

  add(labels: Labels, amount: number): void {
    this.#series.of(labels).value += amount;
  }

  values(): { labels: Labels; value: number }[] {
    return this.#series.values().map(({ labels, value }) => ({ labels, value }));
  }

  /** For the registry, which asks at every scrape. */
  async get() {
    return { name: this.name, help: this.help, type: this.type, values: this.values(), aggregator: 'sum' };
  }

  /** The registry only calls `get`, but its type asks for a metric of prom-client. */
  get forRegistry(): Metric {
    return this as unknown as Metric;
  }
}
