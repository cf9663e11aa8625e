import { Patience } from '../../gateway/budget/patience.js';
import { GatewayError } from '../../gateway/errors.js';
import type { ObjectStore, ObjectWriter } from '../../gateway/ports/object-store.js';

/**
 * The same store, with an error after `timeouts.store` in the place of an answer that does not come. Node has no way to
 * give up a system call that hangs, as on a network file system whose server is gone; but whoever asked can be told, and
 * what comes of the call after all is removed.
 */
export function inTime(store: ObjectStore, ms: number): ObjectStore {
  const patience = new Patience(ms);
  const late = () => new GatewayError('store_timeout', { limit: 'timeouts.store', allowed: ms });
  /** @param tooLate takes what comes when it is not waited for any more */
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
    write: (part, last) => within(writer.write(part, last)),
    commit: () => within(writer.commit()),
    abort: () => within(writer.abort()),
  });

  return {
    ...store,
    create: async (key, signal) => {
      const writer = await within(store.create(key, signal), (unused) => {
        unused.abort().catch(() => undefined);
      });
      return writerInTime(writer);
    },
    get: (key, options) =>
      within(store.get(key, options), (unused) => {
        if (unused.kind === 'found') unused.body.destroy();
      }),
    head: (key) => within(store.head(key)),
    remove: (key) => within(store.remove(key)),
    check: () => within(store.check()),
  };
}
