import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import type { Gateway } from '../../helpers/gateway-process.js';
import { inParallel, Replicas } from './replicas.js';

const TICKETS = 1000;
const AT_ONE_TIME = 24;
/** Stored, or another try is ahead. */
const EXPECTED: readonly (number | string)[] = [201, 409];

let replicas: Replicas;
let gateways: Gateway[];

beforeAll(async () => {
  replicas = await Replicas.open();
  gateways = await Promise.all([replicas.start(), replicas.start()]);
});

afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  await replicas?.close();
});

/** Its status, and its text where that is not expected. */
async function answerOf(response: Response): Promise<number | string> {
  const { status } = response;
  return EXPECTED.includes(status) ? status : `${status} ${await response.text()}`;
}

/** One try; what it was answered, or `broken` when it went away in the middle. */
async function tryOnce(gateway: Gateway | undefined, ticket: string, bytes: Buffer, breaks: boolean) {
  const url = `${gateway?.url}/u/${ticket}`;
  if (!breaks) return answerOf(await fetch(url, { method: 'PUT', body: bytes }));
  const pieces = async function* () {
    yield new Uint8Array(bytes);
    throw new Error('gone');
  };
  const body = ReadableStream.from(pieces());
  return fetch(url, { method: 'PUT', body, duplex: 'half' }).then(answerOf, () => 'broken');
}

describe('two gateways, and tries at one time for each ticket', () => {
  it('store every file once, whichever is first, and leave no ticket stuck (R16, G2)', async () => {
    const tickets = await Promise.all(Array.from({ length: TICKETS }, () => replicas.authorize()));
    const wrong: unknown[] = [];
    const stored = new Map<string, string>();
    await inParallel([...tickets.entries()], AT_ONE_TIME, async ([n, { ticket, uri }]) => {
      const tries = Array.from({ length: 3 }, () => randomBytes(8));
      // every fifth ticket has a try that breaks off; every twentieth has no other, and is tried again afterwards
      const breaks = (k: number) => n % 20 === 0 || (n % 5 === 0 && k === 0);
      const send = (bytes: Buffer, k: number) => tryOnce(gateways[(n + k) % 2], ticket, bytes, breaks(k));
      let statuses = await Promise.all(tries.map(send));
      if (n % 20 === 0) {
        const again = (bytes: Buffer, k: number) => tryOnce(gateways[k % 2], ticket, bytes, false);
        if (statuses.some((status) => status === 201)) wrong.push({ n, statuses });
        statuses = await Promise.all(tries.map(again));
      }
      const winners = tries.filter((_, k) => statuses[k] === 201);
      const isRight =
        winners.length === 1 && statuses.every((status) => status === 'broken' || EXPECTED.includes(status));
      if (isRight) stored.set(uri, sha256Url(winners[0] as Buffer));
      else wrong.push({ n, statuses });
    });
    expect(wrong).toEqual([]);
    await inParallel([...stored], AT_ONE_TIME, async ([uri, digest]) => {
      const resolved = await replicas.parts.library.resolve(uri, PRINCIPAL);
      expect(resolved).toMatchObject({ kind: 'ready', record: { digest } });
    });
    expect((await replicas.parts.keys()).length).toBe(TICKETS);
  }, 120_000);
});
