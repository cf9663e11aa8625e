/**
 * The clients of a soak of two replicas, all in one process: each opens a session, does a few things with pauses
 * between them, and opens another. When they are told to leave, everything that they were given is asked for again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { call, textOf } from '../honest/offers.js';
import { closeSession, openSession, timed } from '../honest/target.js';
import { KEYS } from '../lab.js';
import { type Act, document, download, echo, list, Promises, tooLarge, upload } from './caller.js';
import { FILE_LIMIT } from './lab.js';
import { type Found, LEAVE } from './messages.js';

const [url = '', count = ''] = process.argv.slice(2);
const OWNERS = Object.keys(KEYS) as (keyof typeof KEYS)[];

/** Things that a client does in one session. */
const ACTS_OF_A_SESSION = 12;
const LEAST_PAUSE_MS = 1_500;
const PAUSE_SPREAD_MS = 2_500;
/** One client in so many has a server that is a process of its own. */
const STDIO_EVERY = 25;
/** How many are asked for at a time, in the end. */
const ASKED_AT_ONCE = 16;

const promises = new Promises();
let isLeaving = false;

const pause = () => sleep(LEAST_PAUSE_MS + Math.random() * PAUSE_SPREAD_MS);
const fileActs = (owner: string): readonly Act[] => [
  ...[document, document, document, list],
  ...[upload(owner), upload(owner), tooLarge(owner, FILE_LIMIT)],
];
const talkActs: readonly Act[] = [echo, echo, echo, echo, list];

async function session(place: number): Promise<void> {
  const owner = OWNERS[place % OWNERS.length] ?? 'honest';
  const server = place % STDIO_EVERY === 0 ? 'stdio' : place % 3 === 0 ? 'files' : 'everything';
  const acts = server === 'everything' ? talkActs : fileActs(owner);
  const client = await timed('initialize', () => openSession({ url, key: KEYS[owner] }, server));
  try {
    for (let turn = 0; turn < ACTS_OF_A_SESSION && !isLeaving; turn += 1) {
      await pause();
      await acts[(place + turn) % acts.length]?.(client, promises, place * ACTS_OF_A_SESSION + turn);
    }
  } finally {
    await closeSession(client);
  }
}

async function keepGoing(place: number): Promise<void> {
  // they do not come all at once
  await sleep((place * 10_000) / Number(count));
  while (!isLeaving) {
    // told already
    await session(place).catch(() => undefined);
    if (!isLeaving) await pause();
  }
}

async function askAgain(): Promise<Found> {
  const lost: string[] = [];
  const readable: string[] = [];
  const clients = new Map<string, Client>();
  for (const owner of OWNERS) clients.set(owner, await openSession({ url, key: KEYS[owner] }, 'files'));
  const digestOf = async (uri: string, owner: string) => {
    const client = clients.get(owner);
    if (!client) throw new Error(`there is no caller ${owner}`);
    return textOf(await call(client, 'digest', { data: uri }));
  };
  await each(promises.links, async (link) => {
    await download(link).catch((error: unknown) => lost.push(`${link.link}: ${String(error)}`));
  });
  await each(promises.uploads, async ({ uri, digest, owner }) => {
    const got = await digestOf(uri, owner).catch((error: unknown) => String(error));
    if (got !== digest) lost.push(`${uri}: ${got.slice(0, 200)}`);
  });
  const foreign = promises.uploads.filter((_, place) => place % 5 === 0);
  const mustFail = [
    ...promises.refused,
    ...foreign.map(({ uri, owner }) => ({ uri, owner: OWNERS.find((other) => other !== owner) ?? owner })),
  ];
  await each(mustFail, async ({ uri, owner }) => {
    const answers = await Promise.allSettled([digestOf(uri, owner), clients.get(owner)?.readResource({ uri })]);
    if (answers.some(({ status }) => status === 'fulfilled')) readable.push(uri);
  });
  for (const client of clients.values()) await closeSession(client);
  const { links, uploads } = promises;
  return { type: 'found', links: links.length, uploads: uploads.length, lost, refused: mustFail.length, readable };
}

async function each<T>(all: readonly T[], ask: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all];
  const worker = async () => {
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) await ask(one);
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, worker));
}

const everybody = Promise.all(Array.from({ length: Number(count) }, (_, place) => keepGoing(place)));
process.on('message', (message) => {
  if (message !== LEAVE) return;
  isLeaving = true;
  void everybody.then(async () => {
    const found = await askAgain();
    process.send?.(found, () => process.exit(0));
  });
});
