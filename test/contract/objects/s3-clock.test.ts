import { afterEach, expect, it } from '@jest/globals';
import { fetchBytes, store } from '../object-store.contract.js';
import { freshBucket } from './s3-buckets.js';

const HOUR_MS = 3_600_000;
const machineNow = Date.now;

afterEach(() => {
  Date.now = machineNow;
});

it.each([HOUR_MS, -HOUR_MS, 24 * HOUR_MS])('a clock that is set by %i ms, and set right, fails no step', async (ms) => {
  const { objects } = await freshBucket('clock');
  const steps = async (name: string) => {
    expect((await objects.head('f/first'))?.size).toBe(3);
    await objects.check();
    await store(objects, `f/${name}`, Buffer.from(name));
    expect((await fetchBytes(objects, `f/${name}`)).toString()).toBe(name);
    const options = { ttlSeconds: 60, contentType: 'text/plain', contentDisposition: 'inline' };
    expect((await fetch((await objects.presign?.('f/first', options)) ?? '')).status).toBe(200);
  };
  await store(objects, 'f/first', Buffer.from('one'));
  await steps('before');
  Date.now = () => machineNow() + ms;
  await steps('wrong');
  Date.now = machineNow;
  await steps('right');
});
