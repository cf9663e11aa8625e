import { asGatewayError } from '../errors.js';
import type { Stopwatch } from '../ports/clock.js';
import type { BoundMetrics } from '../ports/metrics.js';
import type { ObjectStat, ObjectStore, ObjectWriter, ResumableWriter, ResumableWrites } from '../ports/object-store.js';
import type { Span, Tracer } from '../ports/telemetry.js';
import { Measure } from './measure.js';
import { partOf } from './whole.js';

const PART = {
  seconds: 'wharf_object_store_seconds',
  errors: 'wharf_object_store_errors_total',
  codes: 'store_',
} as const;

type Operation = 'begin' | 'write' | 'commit' | 'read' | 'head' | 'remove' | 'abort' | 'list';

interface Measured {
  metrics: BoundMetrics;
  clock: Stopwatch;
  /** Absent: no spans are recorded. */
  tracer: Tracer | undefined;
}

/** An object store whose steps are timed, and whose files are spans from their first byte to their last. */
export function measuredObjects(objects: ObjectStore, { metrics, clock, tracer }: Measured): ObjectStore {
  const measure = new Measure<Operation>(PART, metrics, clock);
  const { checkRoom, claim, presign, presignsUntil, resumable } = objects;
  return partOf<ObjectStore>({
    name: objects.name,
    partSize: objects.partSize,
    create: async (key, signal) => {
      const facts = { 'wharf.store': objects.name };
      const span = tracer?.begin({ name: 'store file', kind: 'internal', facts });
      try {
        const writer = await measure.step('begin', () => objects.create(key, signal));
        return measuredWriter(writer, measure, span);
      } catch (error) {
        endFailed(span, error);
        throw error;
      }
    },
    get: (key, options) => measure.step('read', () => objects.get(key, options)),
    getWhole: (key, size, signal) => measure.step('read', () => objects.getWhole(key, size, signal)),
    head: (key) => measure.step('head', () => objects.head(key)),
    remove: (key) => measure.step('remove', () => objects.remove(key)),
    list: (prefix, signal) => measuredList(objects.list(prefix, signal), measure),
    keysAfter: (prefix, after, most) => measure.step('list', () => objects.keysAfter(prefix, after, most)),
    presign: presign?.bind(objects),
    presignsUntil: presignsUntil?.bind(objects),
    resumable: resumable && measuredWrites(resumable, measure),
    removeUnfinished: (olderThan, signal) =>
      measure.counted('abort', () => objects.removeUnfinished(olderThan, signal)),
    prepare: () => objects.prepare(),
    claim: claim?.bind(objects),
    check: () => objects.check(),
    checkRoom: checkRoom?.bind(objects),
    close: () => objects.close(),
  });
}

/** Its time is that of all pages and of what is done between them, so only its failures are counted. */
async function* measuredList(list: AsyncIterable<ObjectStat>, measure: Measure<Operation>): AsyncGenerator<ObjectStat> {
  const pages = list[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await measure.counted('list', () => pages.next());
      if (done) return;
      yield value;
    }
  } finally {
    await pages.return?.();
  }
}

function measuredWriter(writer: ObjectWriter, measure: Measure<Operation>, span: Span | undefined): ObjectWriter {
  let size = 0;
  return {
    write: (part) => {
      size += part.length;
      return measure.step('write', () => writer.write(part));
    },
    writeLast: (part, sha256) => {
      size += part.length;
      return measure.step('write', () => writer.writeLast(part, sha256));
    },
    commit: async () => {
      let mark: string | undefined;
      try {
        mark = await measure.step('commit', () => writer.commit());
      } catch (error) {
        endFailed(span, error);
        throw error;
      }
      span?.end({ 'wharf.file_bytes': size });
      return mark;
    },
    abort: async () => {
      // after a commit there is nothing to abort, and the span has ended
      span?.end({}, { type: 'aborted' });
      await measure.step('abort', () => writer.abort());
    },
  };
}

function measuredWrites(writes: ResumableWrites, measure: Measure<Operation>): ResumableWrites {
  return {
    begin: async (key, signal) => resumed(await measure.step('begin', () => writes.begin(key, signal)), measure),
    resume: async (key, place, signal) => {
      const found = await measure.step('read', () => writes.resume(key, place, signal));
      return found && { ...found, writer: resumed(found.writer, measure) };
    },
    discard: (key, place) => measure.step('remove', () => writes.discard(key, place)),
  };
}

function resumed(writer: ResumableWriter, measure: Measure<Operation>): ResumableWriter {
  return {
    write: (part) => measure.step('write', () => writer.write(part)),
    save: (rest) => measure.step('write', () => writer.save(rest)),
    finish: (last) => measure.step('commit', () => writer.finish(last)),
    close: () => writer.close(),
    ...(writer.removeUnsaved && {
      removeUnsaved: (kept) => measure.step('abort', async () => writer.removeUnsaved?.(kept)),
    }),
    abort: () => measure.step('abort', () => writer.abort()),
  };
}

function endFailed(span: Span | undefined, error: unknown): void {
  span?.end({}, { type: asGatewayError(error).code });
}
