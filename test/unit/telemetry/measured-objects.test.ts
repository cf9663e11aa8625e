import { expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { BoundMetrics } from '../../../gateway/ports/metrics.js';
import type { ObjectStore, ObjectWriter, ResumableWriter } from '../../../gateway/ports/object-store.js';
import { measuredObjects } from '../../../gateway/telemetry/measured-objects.js';

const away = (): Promise<never> => Promise.reject(new GatewayError('store_unavailable'));

/** A store whose every step fails from some time on. */
function failing(ended: () => void): ObjectStore {
  const writer: Partial<ObjectWriter> = { abort: away };
  const resumed: Partial<ResumableWriter> = { abort: away, removeUnsaved: away };
  const store: Partial<ObjectStore> = {
    create: async () => writer as ObjectWriter,
    resumable: { begin: async () => resumed as ResumableWriter, resume: async () => undefined, discard: away },
    removeUnfinished: away,
    keysAfter: away,
    async *list() {
      try {
        yield { key: 'f/1', size: 1, modifiedAt: 0 };
        await away();
      } finally {
        ended();
      }
    },
  };
  return store as ObjectStore;
}

function measured() {
  let ended = 0;
  const counted: string[] = [];
  const timed = new Set<string>();
  const metrics: BoundMetrics = {
    count: (name, labels) => void counted.push(`${name} ${labels?.operation} ${labels?.code}`),
    gauge() {},
    observe() {},
    bind: (_, labels) => () => void timed.add(String(labels.operation)),
  };
  return {
    objects: measuredObjects(
      failing(() => {
        ended += 1;
      }),
      { metrics, clock: { ticks: () => 0 }, tracer: undefined },
    ),
    counted,
    timed,
    ended: () => ended,
  };
}

const { signal } = new AbortController();

it.each<[string, string, (objects: ObjectStore) => Promise<unknown>]>([
  ['the removal of a broken-off upload', 'abort', async (objects) => (await objects.create('f/1', signal)).abort()],
  ['that of a resumable one', 'abort', async (objects) => (await objects.resumable?.begin('f/1', signal))?.abort()],
  [
    'what one of several writers leaves',
    'abort',
    async (objects) => (await objects.resumable?.begin('f/1', signal))?.removeUnsaved?.('1'),
  ],
  ['a sweep of unfinished uploads', 'abort', (objects) => objects.removeUnfinished(0)],
  ['a page of keys', 'list', (objects) => objects.keysAfter('f/', '', 1)],
  [
    'a list that breaks off',
    'list',
    async (objects) => {
      for await (const _ of objects.list('f/'));
    },
  ],
])('a failure of %s is counted', async (_, operation, work) => {
  const { objects, counted } = measured();
  await expect(work(objects)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(counted).toEqual([`wharf_object_store_errors_total ${operation} store_unavailable`]);
});

it('a list is ended with its reader, and its time, which grows with what is stored, is not that of the store', async () => {
  const { objects, timed, ended } = measured();
  for await (const { key } of objects.list('f/')) {
    expect(key).toBe('f/1');
    break;
  }
  expect(ended()).toBe(1);
  expect([...timed]).toEqual([]);
});
