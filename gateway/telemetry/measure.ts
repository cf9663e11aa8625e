import { GatewayError } from '../errors.js';
import type { Stopwatch } from '../ports/clock.js';
import type { BoundMetrics, CounterName, HistogramName } from '../ports/metrics.js';

interface MeasuredPart {
  seconds: HistogramName;
  errors: CounterName;
  /** How the codes of its own failures begin. What else ends a step, such as a client that left, is not its fault. */
  codes: string;
}

/** Times the steps of a part, and counts those that it fails, by their kind: there are few of those. */
export class Measure<Operation extends string> {
  readonly #part: MeasuredPart;
  readonly #metrics: BoundMetrics;
  readonly #clock: Stopwatch;
  readonly #observers = new Map<Operation, (seconds: number) => void>();

  constructor(part: MeasuredPart, metrics: BoundMetrics, clock: Stopwatch) {
    this.#part = part;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  async step<Value>(operation: Operation, work: () => Promise<Value>): Promise<Value> {
    const from = this.#clock.ticks();
    try {
      return await this.counted(operation, work);
    } finally {
      this.#observerOf(operation)((this.#clock.ticks() - from) / 1000);
    }
  }

  /** Counts how a step fails whose time says nothing of the part: it grows with what is stored. */
  async counted<Value>(operation: Operation, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      this.#failed(operation, error);
      throw error;
    }
  }

  #failed(operation: Operation, error: unknown): void {
    const { errors, codes } = this.#part;
    if (!(error instanceof GatewayError) || !error.code.startsWith(codes)) return;
    this.#metrics.count(errors, { operation, code: error.code });
  }

  #observerOf(operation: Operation): (seconds: number) => void {
    const known = this.#observers.get(operation);
    if (known) return known;
    const observe = this.#metrics.bind(this.#part.seconds, { operation });
    this.#observers.set(operation, observe);
    return observe;
  }
}
