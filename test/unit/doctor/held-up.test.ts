import { createServer } from 'node:http';
import { afterEach, expect, it } from '@jest/globals';
import { reachChecks } from '../../../gateway/doctor/reach.js';
import { checkEvents, STREAM_HEADERS } from '../../../gateway/doctor/way-check.js';
import { close, listen } from '../../helpers/loopback.js';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
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
  const place = async () => ({ token: 'x', isOwn: false, close: async () => {} });
  const check = reachChecks({ publicUrl: `http://127.0.0.1:${port}` }, place).find(
    ({ title }) => title === 'event streams',
  );
  const found = await check
    ?.run(AbortSignal.timeout(20_000))
    .catch((error: Error) => ({ state: 'failed', text: error.message }));
  return { found, count };
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
