import { describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/objects/memory.js';
import { describeObjectStore, store } from '../object-store.contract.js';
import { describeResumableWrites } from '../object-store-resumable.contract.js';

const clock = { now: () => Date.now() };

describeObjectStore('memory', async () => create(settings.parse({}), { clock }));

describeResumableWrites('memory', async () => create(settings.parse({}), { clock }));

describe('memory object store', () => {
  it('is full at maxBytes, unfinished writes included, and has room again after an abort', async () => {
    const objects = create(settings.parse({ maxBytes: 1000 }), { clock });
    await store(objects, 'f/a', Buffer.alloc(600));
    const writer = await objects.create('f/b', new AbortController().signal);
    await writer.write(Buffer.alloc(300));
    await expect(store(objects, 'f/c', Buffer.alloc(200))).rejects.toMatchObject({ code: 'store_full' });
    await writer.abort();
    await store(objects, 'f/c', Buffer.alloc(200));
    await objects.remove('f/a');
    await store(objects, 'f/d', Buffer.alloc(800));
  });

  it('counts a write that goes on, and no more of it than is left', async () => {
    const { resumable } = create(settings.parse({ maxBytes: 1024 + 1000 }), { clock });
    if (!resumable) throw new Error('it can');
    const signal = new AbortController().signal;
    const writer = await resumable.begin('f/a', signal);
    const place = await writer.save(Buffer.alloc(600));
    await writer.write(Buffer.alloc(300));
    await expect(writer.write(Buffer.alloc(200))).rejects.toMatchObject({ code: 'store_full' });
    const later = await resumable.resume('f/a', place, signal);
    await expect(writer.write(Buffer.alloc(1))).rejects.toMatchObject({ code: 'store_unavailable' });
    await later?.writer.write(Buffer.alloc(400));
    await resumable.discard('f/a', place);
    await (await resumable.begin('f/b', signal)).write(Buffer.alloc(1000));
  });

  it('bounds the writes that go on by maxBytes, even those without a byte', async () => {
    const { resumable } = create(settings.parse({ maxBytes: 2500 }), { clock });
    if (!resumable) throw new Error('it can');
    const signal = new AbortController().signal;
    const first = await resumable.begin('f/a', signal);
    const second = await resumable.begin('f/b', signal);
    await expect(resumable.begin('f/c', signal)).rejects.toMatchObject({ code: 'store_full' });
    await first.abort();
    await first.abort();
    await second.finish(Buffer.alloc(400));
    await (await resumable.begin('f/c', signal)).write(Buffer.alloc(1000));
    await expect(resumable.begin('f/d', signal)).rejects.toMatchObject({ code: 'store_full' });
  });
});
