import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { OwedMessages } from '../../../gateway/relay/owed-messages.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import { silentLog } from '../../helpers/silent-log.js';

const DRAIN_MS = 30_000;
const LOOK_MS = 200;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function lab() {
  const clock = { ticks: () => Date.now() };
  const state = create(settings.parse({}), { clock, sharing: UNSHARED });
  const keys = new StateKeys([]);
  const replica = () => new OwedMessages({ state, keys, clock, log: silentLog });
  const [draining, other] = [replica(), replica()];
  const came: string[] = [];
  const at = { isBusy: true };
  const owner = { principal: 'me', server: 'one' };
  const deliver = async (body: Buffer) => {
    came.push(body.toString());
    if (body.includes('fails')) throw new Error('the channel is over');
  };
  const leave = draining.add('s', { ...owner, isBusy: () => at.isBusy, deliver });
  return { draining, other, came, at, leave };
}

const body = (text: string) => Buffer.from(text);
const look = () => jest.advanceTimersByTimeAsync(LOOK_MS);

it('what clients owe a session comes from other replicas in order, once, while it drains', async () => {
  const { draining, other, came } = lab();
  expect(await other.leave('s', body('early'))).toBe(false);
  draining.start(DRAIN_MS);
  await look();
  for (const text of ['one', 'fails', 'größer']) expect(await other.leave('s', body(text))).toBe(true);
  expect(await other.leave('another', body('x'))).toBe(false);
  await look();
  await look();
  expect(came).toEqual(['one', 'fails', 'größer']);
  const stopped = draining.stop();
  await look();
  await stopped;
  expect(await other.leave('s', body('late'))).toBe(false);
});

it('nothing is left for a session without a call under way, nor more than may wait', async () => {
  const { draining, other, came, at } = lab();
  at.isBusy = false;
  draining.start(DRAIN_MS);
  await look();
  expect(await other.leave('s', body('x'))).toBe(false);
  at.isBusy = true;
  await look();
  expect(await other.leave('s', Buffer.alloc(300 * 1024, 'a'))).toBe(true);
  expect(await other.leave('s', Buffer.alloc(300 * 1024, 'b'))).toBe(false);
  await look();
  expect(came.map((text) => text[0])).toEqual(['a']);
  // its call has ended
  at.isBusy = false;
  await look();
  expect(await other.leave('s', body('y'))).toBe(false);
});
