import { describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/objects/memory.js';
import { describeObjectStore, store } from '../object-store.contract.js';

const clock = { now: () => Date.now() };

describeObjectStore('memory', async () => create(settings.parse({}), { clock }));

describe('memory object store', () => {
  it('is full at maxBytes, unfinished writes included, and has room again after an abort', async () => {
    const objects = create(settings.parse({ maxBytes: 1000 }), { clock });
    await store(objects, 'f/a', Buffer.alloc(600));
    const writer = await objects.create('f/b', new AbortController().signal);
    await writer.write(Buffer.alloc(300), false);
    await expect(store(objects, 'f/c', Buffer.alloc(200))).rejects.toMatchObject({ code: 'store_full' });
    await writer.abort();
    await store(objects, 'f/c', Buffer.alloc(200));
    await objects.remove('f/a');
    await store(objects, 'f/d', Buffer.alloc(800));
  });
});
