import { createServer } from 'node:http';
import { afterEach, expect, it, jest } from '@jest/globals';
import { reachChecks } from '../../../gateway/doctor/reach.js';
import { checkEvents, PAUSE_MS, SILENCE_MS, STREAM_HEADERS } from '../../../gateway/doctor/way-check.js';
import { close, listen } from '../../helpers/loopback.js';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  jest.useRealTimers();
  for (const end of ends.splice(0)) await end();
});

/** Holds up this process, as a machine with other work does. */
function holdUp(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** The check of event streams, at a place whose answer `tell` writes; only its second pause is left out. */
async function checked(tell: (n: number) => void) {
  let count = 0;
  const server = createServer(async (_, response) => {
    count += 1;
    response.writeHead(200, STREAM_HEADERS);
    const [first, second, last] = await events();
    response.write(first);
    tell(count);
    response.write(second);
    response.end(last);
  });
  const port = await listen(server);
  ends.push(() => close(server));
  return { found: await checkAt(`http://127.0.0.1:${port}`), count };
}

async function checkAt(publicUrl: string) {
  const place = async () => ({ token: 'x', isOwn: false, close: async () => {} });
  const check = reachChecks({ publicUrl }, place).find(({ title }) => title === 'event streams');
  return check?.run(AbortSignal.timeout(20_000)).catch((error: Error) => ({ state: 'failed', text: error.message }));
}

/** The check of event streams, whose nth answer brings its second event `pauses[n]` ms after the first. */
async function checkedWith(...pauses: number[]) {
  jest.useFakeTimers();
  let count = 0;
  jest.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    const pause = pauses[count] ?? 0;
    count += 1;
    const [first, second, last] = await events();
    async function* pieces() {
      yield first;
      await jest.advanceTimersByTimeAsync(pause);
      yield second;
      await jest.advanceTimersByTimeAsync(SILENCE_MS);
      yield last;
    }
    return { status: 200, body: pieces() } as unknown as Response;
  });
  return { found: await checkAt('http://127.0.0.1'), count: () => count };
}

async function events(): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const one of checkEvents(async () => {})) all.push(one);
  return all;
}

it('does not take events for gathered that came while the doctor itself was held up, and listens once more', async () => {
  const { found, count } = await checked(() => holdUp(700));
  expect(count).toBe(2);
  expect(found).toMatchObject({
    state: 'warning',
    text: expect.stringMatching(/^not known: this process was held up/),
  });
});

it('listens once more where two events come together and the next one does not: a process on the way was held up', async () => {
  const { found, count } = await checkedWith(0, PAUSE_MS);
  expect(found).toMatchObject({ state: 'ok' });
  expect(count()).toBe(2);
});

it('finds answers gathered where two events come together twice', async () => {
  const { found, count } = await checkedWith(0, 0);
  expect(found).toMatchObject({ state: 'failed', text: expect.stringContaining('arrive together') });
  expect(count()).toBe(2);
});
