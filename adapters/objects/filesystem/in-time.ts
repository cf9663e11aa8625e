import { Patience } from '../../../gateway/budget/patience.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { ObjectStore, ObjectWriter, ResumableWriter } from '../../../gateway/ports/object-store.js';

/**
 * Wraps a store so that each step fails after `timeouts.store`. Node cannot abort a hanging system call, as on a
 * network file system whose server has gone. The caller gets its error in time, and a late result is cleaned up.
 */
export function inTime(store: ObjectStore, ms: number): ObjectStore {
  const patience = new Patience(ms);
  const late = () => new GatewayError('store_timeout', { limit: 'timeouts.store', allowed: ms });
  /** @param tooLate cleans up a result that arrives after the error */
  const within = async <T>(step: Promise<T>, tooLate?: (value: T) => void): Promise<T> => {
    let isLate = false;
    const settled = step.then((value) => {
      if (isLate) tooLate?.(value);
      return value;
    });
    return patience.within(settled, () => {
      isLate = true;
      return late();
    });
  };
  const writerInTime = (writer: ObjectWriter): ObjectWriter => ({
    write: (part) => within(writer.write(part)),
    writeLast: (part) => within(writer.writeLast(part)),
    commit: () => within(writer.commit()),
    abort: () => within(writer.abort()),
  });
  const resumableInTime = (writer: ResumableWriter): ResumableWriter => ({
    write: (part) => within(writer.write(part)),
    save: (rest) => within(writer.save(rest)),
    finish: (last) => within(writer.finish(last)),
    close: () => within(writer.close()),
    abort: () => within(writer.abort()),
  });
  const { resumable, checkRoom } = store;

  return {
    ...store,
    create: async (key, signal) => {
      const writer = await within(store.create(key, signal), (unused) => {
        unused.abort().catch(() => undefined);
      });
      return writerInTime(writer);
    },
    ...(resumable && {
      resumable: {
        begin: async (key, signal) => {
          const writer = await within(resumable.begin(key, signal), (unused) => {
            unused.abort().catch(() => undefined);
          });
          return resumableInTime(writer);
        },
        resume: async (key, place, signal) => {
          const resumed = await within(resumable.resume(key, place, signal), (unused) => {
            unused?.writer.close().catch(() => undefined);
          });
          return resumed && { ...resumed, writer: resumableInTime(resumed.writer) };
        },
        discard: (key, place) => within(resumable.discard(key, place)),
      },
    }),
    get: (key, options) =>
      within(store.get(key, options), (unused) => {
        if (unused.kind === 'found') unused.body.destroy();
      }),
    getWhole: (key, size, signal) => within(store.getWhole(key, size, signal)),
    head: (key) => within(store.head(key)),
    remove: (key) => within(store.remove(key)),
    check: () => within(store.check()),
    ...(checkRoom && { checkRoom: () => within(checkRoom()) }),
  };
}
