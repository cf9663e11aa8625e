import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/stdio.js';
import type { SharedConnection, SharedUpstream } from '../../../gateway/ports/upstream.js';
import { until } from '../../helpers/wait.js';
import { source } from './streamed.js';
import { calm, failureOf, fixture, type Overrides, request, upstreamDeps } from './subject.js';

let upstream: SharedUpstream;
let text: string;

afterEach(() => upstream.close());

async function open(command: string[], overrides: Overrides = {}): Promise<SharedConnection> {
  upstream = create(settings.parse({ command }), upstreamDeps(overrides));
  const connection = await upstream.connect(calm());
  text = '';
  connection.body
    .on('error', () => undefined)
    .on('data', (part) => {
      text += String(part);
    });
  return connection;
}

async function* given(...pieces: string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

describe('a long line', () => {
  it('is one line, whatever breaks stand between its tokens', async () => {
    const connection = await open(fixture('echo'));
    const pieces = ['{\r\n "a":', '"x\\n', '"\n', '}'];
    await connection.send({ length: Buffer.byteLength(pieces.join('')), read: () => given(...pieces) });
    await until(() => text.endsWith('\n'));
    expect(text).toBe('{   "a":"x\\n" }\n');
  });

  it('lets short ones wait for one long one at most, and each kind keeps its order', async () => {
    const connection = await open(fixture('echo'));
    const line = (n: number): string => `{"n":${n},"pad":"${'p'.repeat(20_000)}"}`;
    const long = (n: number) => ({
      length: line(n).length,
      read: async function* () {
        for (let at = 0; at < line(n).length; at += 1000) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          yield Buffer.from(line(n).slice(at, at + 1000));
        }
      },
    });
    await Promise.all([...Array(12).keys()].map((n) => connection.send(n % 3 === 1 ? long(n) : Buffer.from(line(n)))));
    const expected = [0, 1, 2, 3, 5, 6, 8, 9, 11, 4, 7, 10].map((n) => `${line(n)}\n`).join('');
    await until(() => text.length >= expected.length);
    expect(text).toBe(expected);
  });

  it('whose source fails ends with a character that JSON forbids', async () => {
    const connection = await open(fixture('echo'));
    const broken = async function* () {
      yield Buffer.from('{"a":1}');
      throw new Error('the object is gone');
    };
    await expect(connection.send({ length: 8, read: broken })).rejects.toThrow('the object is gone');
    await connection.send(Buffer.from('{"next":1}'));
    await until(() => text.endsWith('}\n'));
    expect(text).toBe('{"a":1}\x18\n{"next":1}\n');
  });

  it('whose source fails before its first byte leaves no trace', async () => {
    const connection = await open(fixture('echo'));
    await expect(connection.send(source(1000, { failAfter: 0, failure: new Error('gone') }))).rejects.toThrow('gone');
    await connection.send(Buffer.from('{"next":1}'));
    await until(() => text.endsWith('}\n'));
    expect(text).toBe('{"next":1}\n');
  });

  it('ends with an error when the process dies in its middle', async () => {
    const connection = await open([process.execPath, '-e', 'process.stdin.once("data", () => process.exit(3))']);
    const message = source(64 * 1024 * 1024);
    const sending = [failureOf(connection.send(message)), failureOf(connection.send(request(2, 'ping')))];
    expect((await Promise.all(sending)).map(({ code }) => code)).toEqual(['upstream_closed', 'upstream_closed']);
    await until(() => message.ended === 1);
  });

  it('ends with an error when the process closes its stdin in its middle', async () => {
    const script = 'setTimeout(() => fs.closeSync(0), 200); setInterval(() => {}, 1000)';
    const connection = await open([process.execPath, '-e', script]);
    const message = source(64 * 1024 * 1024);
    expect((await failureOf(connection.send(message))).code).toBe('upstream_closed');
    await until(() => message.ended === 1);
    expect((await failureOf(connection.send(request(2, 'ping')))).code).toBe('upstream_closed');
  });
});

describe('a line that was given up', () => {
  const everything = fileURLToPath(
    new URL('../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
  );

  it('is reported by a server of the official SDK, which goes on', async () => {
    const connection = await open([process.execPath, everything, 'stdio']);
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    await connection.send(request(1, 'initialize', params));
    await until(() => text.includes('"id":1}'));
    const failure = new Error('the object is gone');
    await expect(connection.send(source(2_000_000, { id: 2, failAfter: 9, failure }))).rejects.toBe(failure);
    await connection.send(request(3, 'ping'));
    await until(() => text.includes('"id":3}'));
    expect(text).not.toContain('"id":2');
  });
});

describe('a process that does not read', () => {
  it('has taken too long for everything that it was given, and not only for what it was given last', async () => {
    const connection = await open(fixture('deaf'), { timeouts: { upstream: 300 } });
    await until(() => text.endsWith('\n'));
    const broken = failureOf(new Promise((_, reject) => connection.body.on('error', reject)));
    const messages = [source(4_000_000), source(4_000_000), request(2, 'ping'), source(4_000_000)];
    const sending = messages.map((message) => failureOf(connection.send(message)));
    await until(() => connection.body.destroyed);
    const failures = [
      ...(await Promise.all(sending)),
      await broken,
      await failureOf(connection.send(request(3, 'ping'))),
    ];
    expect(failures.map(({ code }) => code)).toEqual(Array(6).fill('upstream_timeout'));
    expect(new Set(failures.map(({ facts }) => facts.limit))).toEqual(new Set(['timeouts.upstream']));
  });
});
