import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import type { Stopwatch } from '../../../gateway/ports/clock.js';
import type { Log } from '../../../gateway/ports/log.js';

/** The next line about a loss that goes on comes then, with the number of what was lost meanwhile. */
const AGAIN_MS = 10 * 60 * 1000;

/** What the SDK says of losses, which it tells to nothing but its own log. The packages are of fixed versions. */
const PARTLY = 'Received Partial Success response:';
const DROPPED = /^Dropped (\d+) spans because maxQueueSize reached$/;

const NONE = () => {};

interface LossesDeps {
  log: Log;
  clock: Stopwatch;
  /** `telemetry.queue`. */
  queue: number;
}

/** Logs what is lost although the collector answers well: what it refuses of an export, and spans that found no room. */
export function logLosses({ log, clock, queue }: LossesDeps): void {
  const refused = counted(clock, (count, what) =>
    log.warn({ what, refused: count }, 'the collector takes telemetry, and refuses a part of it, which is lost'),
  );
  const dropped = counted(clock, (count) =>
    log.warn(
      { dropped: count, limit: 'telemetry.queue', allowed: queue },
      'spans come faster than the collector takes them; some are dropped',
    ),
  );
  const hear: DiagLogger['warn'] = (text, ...more) => {
    const found = DROPPED.exec(text);
    if (found) dropped(Number(found[1]), 'traces');
    else if (text === PARTLY) for (const [what, count] of refusalsIn(String(more[0]))) refused(count, what);
  };
  const logger = { warn: hear, error: NONE, info: NONE, debug: NONE, verbose: NONE };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** The collector's own words are left out: they may repeat a key that it was sent. Within them each quote is escaped. */
function refusalsIn(answer: string): [what: string, count: number][] {
  const found = [...answer.matchAll(/"rejected(Spans|DataPoints)":"?(\d{1,15})/g)];
  const counts = found.map(([, of, count]): [string, number] => [of === 'Spans' ? 'traces' : 'metrics', Number(count)]);
  return counts.filter(([, count]) => count > 0);
}

function counted(clock: Stopwatch, tell: (count: number, what: string) => void) {
  const losses = new Map<string, { count: number; toldAt: number }>();
  return (count: number, what: string) => {
    const loss = losses.get(what) ?? { count: 0, toldAt: Number.NEGATIVE_INFINITY };
    losses.set(what, loss);
    loss.count += count;
    if (clock.ticks() - loss.toldAt < AGAIN_MS) return;
    loss.toldAt = clock.ticks();
    tell(loss.count, what);
    loss.count = 0;
  };
}
