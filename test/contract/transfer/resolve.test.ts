import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askNameServers, askSystem } from '../../../adapters/transfer/https/resolve.js';
import { until } from '../../helpers/wait.js';
import { calm } from './peer.js';

/** What the name server has, by name and record type (1 is A, 28 is AAAA). A name without an entry gets no answer. */
const RECORDS: Record<string, Record<number, Buffer[]>> = {
  'both.example': {
    1: [Buffer.from([93, 184, 216, 34]), Buffer.from([127, 0, 0, 1])],
    28: [Buffer.from('26064700000000000000000000001111', 'hex')],
  },
  'v4.example': { 1: [Buffer.from([93, 184, 216, 34])], 28: [] },
  'v6.example': { 1: [], 28: [Buffer.from('26064700000000000000000000001111', 'hex')] },
  'none.example': { 1: [], 28: [] },
};

let socket: Socket;
let servers: string[];
let asked: string[] = [];

beforeAll(async () => {
  socket = createSocket('udp4', (message, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join('.').toLowerCase();
    const type = message.readUInt16BE(at + 1);
    asked.push(`${name} ${type}`);
    const found = RECORDS[name]?.[type];
    if (found === undefined) return;
    const head = Buffer.from([message[0] ?? 0, message[1] ?? 0, 0x81, 0x80, 0, 1, 0, found.length, 0, 0, 0, 0]);
    const answers = found.map((data) =>
      Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]),
    );
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  servers = [`127.0.0.1:${socket.address().port}`];
});
afterAll(() => void socket.close());

describe('asking name servers', () => {
  it.each([
    ['both.example', ['93.184.216.34', '127.0.0.1', '2606:4700::1111']],
    ['v4.example', ['93.184.216.34']],
    ['v6.example', ['2606:4700::1111']],
  ])('%s: every address of both families', async (name, expected) => {
    asked = [];
    expect(await askNameServers(name, calm(), servers)).toEqual(expected);
    expect([...asked].sort()).toEqual([`${name} 1`, `${name} 28`]);
  });

  it('a name without addresses is an error', async () => {
    await expect(askNameServers('none.example', calm(), servers)).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('an aborted signal ends the waiting for a name server that is silent', async () => {
    const controller = new AbortController();
    asked = [];
    const waiting = askNameServers('silent.example', controller.signal, servers);
    await until(() => asked.length >= 2);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'ECANCELLED' });
  });
});

it('the system knows localhost', async () => {
  expect(await askSystem('localhost', calm())).toEqual(expect.arrayContaining([expect.stringMatching(/^(127\.|::1)/)]));
});
