import { describe, expect, it } from '@jest/globals';
import { createLab, TTL } from '../uploads/upload-lab.js';

const HELLO = Buffer.from('hello');
const OF_STORE = /^http:\/\/store\.example\//;

/** A file in a store whose links end with credentials. @param lifeMs of the credentials, from now */
async function fileIn(lifeMs: number | undefined) {
  const lab = createLab({
    links: 'presigned',
    objects: (real) =>
      Object.assign(real, {
        presign: async (key: string) => `http://store.example/bucket/${key}?sig`,
        presignsUntil: async () => (lifeMs === undefined ? undefined : lab.time.now + lifeMs),
      }),
  });
  const { ticket } = await lab.authorize();
  return { lab, record: await lab.send(ticket, HELLO) };
}

describe('a presigned link', () => {
  it.each([
    ['do not end', undefined],
    ['end later than it', 2 * TTL],
    ['end with it', TTL],
  ])('is given for its whole life where the credentials that sign it %s', async (_what, lifeMs) => {
    const { lab, record } = await fileIn(lifeMs);
    const { url, expiresAt, ttlSeconds } = await lab.library.refer(record);
    expect(url).toMatch(OF_STORE);
    expect([expiresAt, ttlSeconds]).toEqual([new Date(lab.time.now + TTL).toISOString(), TTL / 1000]);
  });

  it("is replaced by a link of Wharf's own, which is good to its end, where they end before", async () => {
    const { lab, record } = await fileIn(TTL - 1);
    const { url, link, expiresAt } = await lab.library.refer(record);
    expect(url).toBe(link.url);
    expect(url).not.toMatch(OF_STORE);
    expect(expiresAt).toBe(new Date(lab.time.now + TTL).toISOString());
  });

  it('says when it really ends where it must be one of the store', async () => {
    const { lab, record } = await fileIn(20_000);
    const { url, expiresAt, ttlSeconds } = await lab.library.refer(record, 'direct');
    expect(url).toMatch(OF_STORE);
    expect([expiresAt, ttlSeconds]).toEqual([new Date(lab.time.now + 20_000).toISOString(), 20]);
  });
});
