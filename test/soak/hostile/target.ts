import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from '../../helpers/raw-client.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { tell } from '../messages.js';

/** What a hostile peer is told of the gateway. */
export interface HostileTarget {
  /** Such as `http://127.0.0.1:8080`. */
  url: string;
  key: string;
  /** Whether peers with messages of very many values, and servers with very wide lists, take part. */
  wide: boolean;
}

/** One kind of bad caller. Each bounds its own count and pace, since all share one small machine. */
export interface HostilePeer {
  name: string;
  /** For the report: what it does, in a sentence without a subject. */
  does: string;
  run(target: HostileTarget, note: (outcome: string) => void): Promise<unknown>;
}

/** How often outcomes are told. */
const TELL_MS = 1_000;

/** Runs a peer for as long as the process lives, and tells what it meets. */
export async function runPeer(peer: HostilePeer, target: HostileTarget): Promise<void> {
  let outcomes: Record<string, number> = {};
  setInterval(() => {
    if (Object.keys(outcomes).length === 0) return;
    tell({ type: 'hostile', peer: peer.name, outcomes });
    outcomes = {};
  }, TELL_MS);
  await peer.run(target, (outcome) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  });
}

/** `count` loops of one thing, each `pauseMs` after it has ended. What fails is an outcome as well. */
export async function repeat(
  count: number,
  pauseMs: number,
  note: (outcome: string) => void,
  act: (place: number) => Promise<string>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, place) => {
      await sleep((pauseMs * place) / count);
      for (;;) {
        note(await act(place).catch((error: unknown) => failure(error)));
        await sleep(pauseMs);
      }
    }),
  );
}

/** The code that the gateway gave, or what Node says of the connection. */
function failure(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return outcomeOf(text) ?? (/fetch failed|terminated|aborted/.test(text) ? 'connection ended' : 'no answer');
}

/** The gateway's code in an answer, whatever carries it. */
export function outcomeOf(answer: string): string | undefined {
  return /"(?:code|reason)":"([\w]+)"/.exec(answer)?.[1] ?? /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
}

export function connect({ url, key }: HostileTarget, server: string, about: object = {}): Promise<RawClient> {
  return RawClient.connect(`${url}/${server}/mcp`, '2025-06-18', {
    headers: { authorization: `Bearer ${key}` },
    ...about,
  });
}

/** Its own sessions are ended for those that it opens beside them: a peer does not rely on one for long. */
const SESSION_MS = 15_000;

/** Gives a session that is never old. */
export function freshSession(target: HostileTarget, server: string): () => Promise<RawClient> {
  let opened = Number.NEGATIVE_INFINITY;
  let client: Promise<RawClient>;
  return () => {
    if (performance.now() - opened > SESSION_MS) {
      opened = performance.now();
      client = connect(target, server);
    }
    return client;
  };
}

/** A POST to a server on a connection of its own, of which only the head is sent. */
export async function openPost(
  target: HostileTarget,
  server: string,
  headers: Record<string, string | number>,
): Promise<RawSocket> {
  const socket = await RawSocket.open(Number(new URL(target.url).port));
  socket.head(`POST /${server}/mcp`, {
    Authorization: `Bearer ${target.key}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...headers,
  });
  return socket;
}

/** A link to upload one file, which takes no key. */
export async function uploadPath(target: HostileTarget, client: RawClient): Promise<string> {
  const { result, error } = await client.request('files/authorizeUpload', { name: 'soak.bin' });
  const link = new RegExp(`${target.url}(/u/[\\w-]+)`).exec(JSON.stringify(result))?.[1];
  if (link === undefined) throw new Error(JSON.stringify(error ?? result));
  return link;
}
