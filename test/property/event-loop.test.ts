import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LISTS } from '../helpers/attack-lists.js';
import { type Attack, REQUESTS, RESULTS, type Shape } from '../helpers/attacks.js';
import { type HostileUpstream, startHostileUpstream } from '../helpers/hostile-upstream.js';
import { WatchedGateway } from '../helpers/watched-gateway.js';

/** Of the CPU: how long no other client is served. */
const MAX_TURN_MS = 250;
/** By how much memory may grow, as a multiple of the bytes that a message is counted as. */
const MAX_GROWTH = 4;
/** The heap grows before it is collected, whatever there is to do. */
const HEAP = 96 * 1024 * 1024;
const RESPONSE = { evil: 16 * 1024 * 1024, small: 512 * 1024 } as const;
/** Shapes of each attack: the worst one, and any other. */
const RUNS = 2;
const TRIES = 3;
const EACH_MS = 180_000;

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"take","arguments":{}}}';
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}';

let upstream: HostileUpstream;
let gateway: WatchedGateway;
const sessions = new Map<string, Record<string, string>>();

beforeAll(async () => {
  upstream = await startHostileUpstream();
  const { url } = upstream;
  const tools = { take: { results: { text: 'json' } } };
  gateway = await WatchedGateway.start({
    servers: { evil: { url, tools }, small: { url, limits: { response: RESPONSE.small } } },
  });
  for (const server of ['evil', 'small']) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const post = (body: string, session = {}) =>
      fetch(`${gateway.url}/${server}/mcp`, { method: 'POST', headers: { ...headers, ...session }, body });
    const opened = await post(INITIALIZE);
    const session = { 'Mcp-Session-Id': opened.headers.get('mcp-session-id') ?? '' };
    sessions.set(server, session);
    await opened.text();
    await (await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', session)).text();
    // what runs for the first time is compiled first
    for (let run = 0; run < 5; run++) await (await post(CALL, session)).text();
  }
}, EACH_MS);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

/** What is wrong with how the gateway took it; nothing where all is well. */
async function faults({ make, chunk, isServed, server = 'evil' }: Attack, shape: Shape): Promise<string[]> {
  const { request = CALL, answer, type = 'application/json', tools } = make(shape);
  const method = /"method":"([^"]*)"/.exec(request)?.[1] ?? '';
  upstream.prepare(answer === undefined ? undefined : { method, body: Buffer.from(answer), type, chunk }, tools);
  if (tools) await gateway.post(server, Buffer.from(LIST), sessions.get(server) ?? {});
  const session = method === 'initialize' ? {} : (sessions.get(server) ?? {});
  const body = Buffer.from(request);
  const cost = await gateway.post(server, body, session, answer === undefined ? chunk : undefined);
  upstream.prepare(undefined);
  if (tools) await gateway.post(server, Buffer.from(LIST), sessions.get(server) ?? {});
  const counted = Math.max(body.length, Buffer.byteLength(answer ?? ''));
  const found: string[] = [];
  if (cost.turnMs > MAX_TURN_MS) found.push(`a turn of ${Math.round(cost.turnMs)} ms`);
  if (cost.grownBytes > MAX_GROWTH * counted + HEAP) found.push(`${cost.grownBytes} bytes for ${counted}`);
  if (cost.answerBytes > RESPONSE[server]) found.push(`an answer of ${cost.answerBytes} bytes for ${counted}`);
  if (cost.answerBytes === 0) found.push('no answer');
  if (isServed && cost.head.includes('"error"')) found.push(cost.head);
  return found;
}

/** The same; what a busy machine did to one try is not there in the next. */
async function lasting(attack: Attack, shape: Shape): Promise<string[]> {
  let found: string[] = [];
  for (let run = 0; run < TRIES; run++) {
    // not the same text again, which Wharf would know
    const blank = shape.blank + ' '.repeat(run);
    found = await faults(attack, { ...shape, blank }).catch((error: unknown) => [String(error)]);
    if (found.length === 0) return found;
  }
  return found;
}

function holds(attack: Attack) {
  const { most } = attack;
  const shape = fc.record({
    count: fc.integer({ min: Math.ceil(most / 8), max: most }),
    distinct: fc.constantFrom(1, 7, 150),
    blank: fc.constantFrom('', ' ', '\n\t '),
  });
  const worst = { count: most, distinct: 1, blank: '' };
  return fc.assert(
    fc.asyncProperty(shape, async (one) => expect(await lasting(attack, one)).toEqual([])),
    { numRuns: RUNS, examples: [[worst]], endOnFailure: true },
  );
}

describe.each([
  ['a list', LISTS],
  ['a result', RESULTS],
  ['a request', REQUESTS],
])('%s does not keep the event loop, multiply in memory or in the answer: it is long of', (_, attacks) => {
  it.each(Object.keys(attacks))('%s (G30)', (name) => holds(attacks[name] as Attack), EACH_MS);
});
