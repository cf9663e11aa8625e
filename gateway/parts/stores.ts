import type { AdapterDeps, AdapterList } from '../config/adapter-list.js';
import type { Choice, Config } from '../config/config.js';
import type { Scanner } from '../ports/antivirus.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { BoundMetrics } from '../ports/metrics.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { Previewer } from '../ports/previewer.js';
import type { StateStore } from '../ports/state-store.js';
import type { Tracer } from '../ports/telemetry.js';
import type { SessionsDeps } from '../relay/session.js';
import { measuredObjects } from '../telemetry/measured-objects.js';
import { measuredState } from '../telemetry/measured-state.js';
import { sessionDurations } from '../telemetry/session-durations.js';
import { tracedAntivirus, tracedPreviewer } from '../telemetry/traced-parts.js';

/** Creates the part that the config chooses, and sees to its end. */
export type OpenPart = <Part extends { close(): Promise<void> }>(
  list: Readonly<Record<string, { create(settings: Choice['settings'], deps: AdapterDeps): Promise<Part> }>>,
  choice: Choice,
) => Promise<Part>;

interface OpenStores {
  /** Absent: no spans are recorded. */
  tracer: Tracer | undefined;
  objects: ObjectStore;
  state: StateStore;
  /** The objects are this process's alone, and what is known of them ends with it. */
  isAlone: boolean;
  /** Warns of another process that keeps its files there, if there is one. */
  warnOfOther: () => void;
  previewer: Previewer;
  /** Absent: files are not scanned. */
  scanner: Scanner | undefined;
  /** Called with each session that ends. */
  ended: SessionsDeps['ended'];
}

/** Opens what files go through and are kept in, each measured. */
export async function openStores(
  open: OpenPart,
  adapters: AdapterList,
  config: Config,
  { log, ...measuring }: { metrics: BoundMetrics; clock: Stopwatch; log: Pick<Log, 'warn'> },
): Promise<OpenStores> {
  const { tracer } = await open(adapters.telemetry, config.telemetry);
  const objects = measuredObjects(await open(adapters.objects, config.objects), { ...measuring, tracer });
  await objects.prepare();
  // what they know of the files is apart, and what one does not know it removes
  const isApart = config.state.use === 'memory' && objects.claim !== undefined;
  const other = isApart ? await objects.claim?.() : undefined;
  const state = measuredState(await open(adapters.state, config.state), measuring);
  const previewer = tracedPreviewer(await open(adapters.previews, config.previews), tracer);
  const { scanner } = tracedAntivirus(await open(adapters.antivirus, config.antivirus), tracer);
  return {
    tracer,
    objects,
    state,
    // false also of a store that cannot keep two processes apart
    isAlone: isApart && !other,
    warnOfOther: () => other && log.warn(other, SHARED),
    previewer,
    scanner,
    ended: tracer && sessionDurations(tracer),
  };
}

const SHARED =
  'Another Wharf keeps its files in the same folder. With state in memory each removes the files of the other, an hour ' +
  'after they were stored: give each a folder of its own (objects.path), or both one state: { use: redis }.';
