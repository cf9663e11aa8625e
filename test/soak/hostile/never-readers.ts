import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshSession, type HostilePeer, type HostileTarget, repeat } from './target.js';

/** How long one of them stays if it is not closed before. */
const STAY_MS = 90_000;
const PAUSE_MS = 1_000;

/** Says something and reads nothing of the answer. */
async function sayAndStay(target: HostileTarget, text: string): Promise<string> {
  const socket: Socket = connectSocket(Number(new URL(target.url).port), '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed by the gateway')));
  socket.write(text);
  // A socket that is not read does not see its end; it is noticed when something is written.
  const nudge = setInterval(() => socket.write('\r\n'), 5_000);
  const outcome = await Promise.race([closed, sleep(STAY_MS, 'stayed')]);
  clearInterval(nudge);
  socket.destroy();
  return outcome;
}

function post(target: HostileTarget, server: string, session: string, message: object): string {
  const body = JSON.stringify(message);
  return [
    `POST /${server}/mcp HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${target.key}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Mcp-Session-Id: ${session}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

export const unreadAnswers: HostilePeer = {
  name: 'unread answers',
  does: '12 clients that never read what their server says without end: blanks, comments, notifications',
  async run(target, note) {
    const session = freshSession(target, 'bad');
    const tools = ['blanks', 'comments', 'notifications'];
    return repeat(12, PAUSE_MS, note, async (place) => {
      const params = { name: tools[place % tools.length], arguments: {} };
      const call = { jsonrpc: '2.0', id: `unread-${place}-${Date.now()}`, method: 'tools/call', params };
      return sayAndStay(target, post(target, 'bad', (await session()).session ?? '', call));
    });
  },
};

export const unreadFiles: HostilePeer = {
  name: 'unread files',
  does: '12 clients that never read a resource of 3 MB',
  async run(target, note) {
    const session = freshSession(target, 'http');
    return repeat(12, PAUSE_MS, note, async (place) => {
      const read = {
        jsonrpc: '2.0',
        id: `file-${place}`,
        method: 'resources/read',
        params: { uri: 'noise:///3000000' },
      };
      return sayAndStay(target, post(target, 'http', (await session()).session ?? '', read));
    });
  },
};

export const unreadPipeline: HostilePeer = {
  name: 'unread pipeline',
  does: '4 connections that ask 1000 times in one packet and read none of it',
  run: (target, note) =>
    repeat(4, PAUSE_MS, note, () =>
      sayAndStay(target, 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000)),
    ),
};
