import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/contract/upstream/attempt.test.js.
const module = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));

/** One call whose answer comes in two packets. Its attempt is kept, as V8 does. In a process of its own: only there is it known who keeps what. */
const PROGRAM = `
  import { once } from 'node:events';
  import { createServer } from 'node:http';
  import { Pool } from ${module('adapters/http/pool.js')};
  import { Attempt } from ${module('adapters/upstream/http/attempt.js')};
  import { Slots } from ${module('adapters/upstream/http/slots.js')};
  import { collector } from ${module('gateway/budget/memory/collector.js')};
  import { UNSHARED } from ${module('gateway/budget/ledger.js')};
  import { Line } from ${module('gateway/budget/collections/line.js')};
  import { Patience } from ${module('gateway/budget/patience.js')};

  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.write('an answer that ');
      setTimeout(() => response.end('comes in two packets'), 20);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = new URL('http://127.0.0.1:' + server.address().port);
  const pool = new Pool(origin, { connections: 1 });

  async function sendOne() {
    const context = {
      name: 'server',
      host: origin.host,
      timeouts: { upstream: 10_000, idle: 10_000 },
      pool,
      slots: new Slots({ server: 'server', limit: 1, waitMs: 1000, sharing: UNSHARED }),
      patience: new Patience(10_000),
      open: new Line(),
    };
    const body = Buffer.alloc(100_000, 'x');
    let attempt;
    const answer = await new Promise((resolve, reject) => {
      const call = { method: 'POST', path: '/', headers: [], body };
      attempt = new Attempt(call, new AbortController().signal, context, { resolve, reject });
      attempt.begin();
    });
    let text = '';
    for await (const part of answer.body) text += part;
    return { attempt, text, sent: new WeakRef(body), answered: new WeakRef(answer.body) };
  }

  const { attempt, text, sent, answered } = await sendOne();
  const kept = () => [sent.deref() && 'what it has sent', answered.deref() && 'what it was answered'].filter(Boolean);
  for (let look = 0; look < 10; look += 1) {
    // a WeakRef holds its value to the end of the turn
    await new Promise((resolve) => setTimeout(resolve, 20));
    collector()({ type: 'major', flavor: 'last-resort' });
  }
  console.log(JSON.stringify({ text, kept: kept(), isSent: attempt.isSent }));
  pool.destroy();
  server.close();
`;

it('an attempt that is over keeps neither what it has sent nor what it was answered', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  expect(JSON.parse(stdout)).toEqual({ text: 'an answer that comes in two packets', kept: [], isSent: true });
});
