import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { createLab, HELLO, type Lab } from './upload-lab.js';

/** What was asked in each round: steps that begin while others of the same round are under way wait no longer. */
let rounds: string[][];
let lab: Lab;

beforeEach(() => {
  rounds = [];
  lab = createLab({ state: inRounds });
});

/** A state store at the other end of a network, where only the number of waits counts. */
function inRounds(real: StateStore): StateStore {
  let under: Promise<void> | undefined;
  const wait = (what: string) => {
    if (!under) {
      rounds.push([]);
      under = setImmediate().then(() => {
        under = undefined;
      });
    }
    rounds.at(-1)?.push(what);
    return under;
  };
  const kind = (key: string) => key.replace(/:.*$/s, '');
  return {
    ...real,
    create: (key, ...rest) => wait(`create ${kind(key)}`).then(() => real.create(key, ...rest)),
    read: (key) => wait(`read ${kind(key)}`).then(() => real.read(key)),
    replace: (key, ...rest) => wait(`replace ${kind(key)}`).then(() => real.replace(key, ...rest)),
  };
}

describe('a state store in another place', () => {
  it('is waited for once by an authorization', async () => {
    await lab.authorize();
    expect(rounds).toEqual([['create handle', 'create ticket']]);
  });

  it('is waited for three times before the bytes of an upload are read, and three times after them', async () => {
    const { ticket } = await lab.authorize();
    rounds = [];
    let before = 0;
    const bytes = async function* () {
      before = rounds.length;
      yield HELLO;
    };
    await lab.send(ticket, bytes());
    expect(before).toBe(3);
    expect(rounds).toEqual([
      ['read ticket'],
      ['read file', 'read handle'],
      ['replace ticket'],
      ['read file', 'read handle'],
      ['create file'],
      ['replace handle'],
    ]);
  });

  it('is asked once more where the ticket was changed since it was read', async () => {
    const { ticket } = await lab.authorize();
    rounds = [];
    await Promise.all([lab.uploadLinks.admit(ticket), lab.uploadLinks.admit(ticket)]);
    expect(rounds.flat().filter((step) => step === 'replace ticket')).toHaveLength(2);
    expect(rounds.at(-1)).toEqual(['read ticket']);
    expect((await lab.tickets.findUpload(ticket))?.isOpened).toBe(true);
  });
});
