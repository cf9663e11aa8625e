import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLab, HELLO, type Lab, RETENTION } from '../uploads/upload-lab.js';

let lab: Lab;
/** Keys whose life was extended, in order. */
let extended: string[];

beforeEach(() => {
  extended = [];
  lab = createLab({
    state: (real) => ({
      ...real,
      extend: (key, ttlMs) => {
        extended.push(key);
        return real.extend(key, ttlMs);
      },
    }),
  });
});

async function uploaded(): Promise<string> {
  const { id, ticket } = await lab.authorize();
  await lab.send(ticket, HELLO);
  extended.length = 0;
  return id;
}

describe('a file that a call uses', () => {
  it('is extended once in a thousandth of its life, however often it is used', async () => {
    const id = await uploaded();
    lab.time.now += RETENTION / 2;
    for (let time = 0; time < 3; time++) await lab.uses.use(id);
    expect(extended.sort()).toEqual([`file:${id}`, `handle:${id}`]);
    lab.time.now += RETENTION / 1000;
    await lab.uses.use(id);
    expect(extended).toHaveLength(4);
  });

  it('is not extended when it was stored just now', async () => {
    const id = await uploaded();
    await lab.uses.use(id);
    expect(extended).toEqual([]);
  });

  it('lives on for all but a thousandth of its life after its last use', async () => {
    const id = await uploaded();
    lab.time.now += RETENTION / 2;
    await lab.uses.use(id);
    lab.time.now += RETENTION / 1000 - 1;
    await lab.uses.use(id);
    lab.time.now += RETENTION - RETENTION / 1000;
    expect(await lab.library.find(id)).toBeDefined();
    lab.time.now += 1;
    expect(await lab.library.find(id)).toBeUndefined();
  });

  it('is asked for again each time once it is gone', async () => {
    const id = await uploaded();
    lab.time.now += RETENTION;
    for (let time = 0; time < 2; time++) await lab.uses.use(id);
    expect(extended.filter((key) => key.startsWith('file:'))).toHaveLength(2);
  });

  it('is extended after a clock was set back', async () => {
    const id = await uploaded();
    lab.time.now -= RETENTION;
    await lab.uses.use(id);
    expect(extended).toHaveLength(2);
  });

  it('is extended once more when ten thousand others have been used since', async () => {
    const id = await uploaded();
    for (let at = 1; at < 10_000; at += 1) lab.uses.note(`f_${at}`);
    await lab.uses.use(id);
    expect(extended).toHaveLength(2);
  });
});
