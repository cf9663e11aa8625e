import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import type { SharedConnection } from '../../../../gateway/ports/upstream.js';
import { SharedSession } from '../../../../gateway/relay/channels/shared-session.js';
import { gate } from '../../../helpers/gate.js';
import { unhandledDuring } from '../../../helpers/this-process.js';
import { until } from '../../../helpers/wait.js';
import { NO_LEAKS, RelayLab } from '../relay-lab.js';

const clock = { now: () => Date.now(), ticks: () => performance.now() };

/** A channel to a server of lines, of which the first read of its stored files waits, and each further one fails. */
function channelOf() {
  const first = gate();
  const begun = { reads: 0 };
  const wrapObjects = (store: ObjectStore): ObjectStore => ({
    ...store,
    get: async (key, options) => {
      begun.reads += 1;
      if (begun.reads > 1) throw new Error('the store is down');
      await first.opened;
      return store.get(key, options);
    },
  });
  const lab = new RelayLab({ wrapObjects, partSize: 1024 * 1024 });
  const body = new PassThrough();
  const sent: string[] = [];
  const connection: SharedConnection = {
    kind: 'lines',
    body,
    send: async (message) => void sent.push(String(message)),
    close: async () => void body.destroy(),
  };
  const counted = { dropped: 0 };
  const metrics = { ...lab.deps.metrics, count: () => void counted.dropped++ };
  const deps = { ...lab.deps, clock, metrics };
  const options = { deps, connection, principal: 'ann', isShared: true, closed: () => {} };
  return { lab, body, sent, first, begun, counted, channel: new SharedSession(options) };
}

describe('a request of Wharf’s own on a channel', () => {
  it('is answered once: a second answer, however it fails, harms nothing', async () => {
    const { lab, body, sent, first, begun, counted, channel } = channelOf();
    const image = { type: 'image', mimeType: 'image/png', data: Buffer.alloc(800_000, 'a').toString('base64') };
    const unhandled = await unhandledDuring(async () => {
      const asked = channel.inquire('tools/list', {});
      await until(() => sent.length === 1);
      const { id } = JSON.parse(sent[0] as string) as { id: string };
      const answer = `${JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [], content: [image] } })}\n`;
      body.write(answer);
      await until(() => begun.reads === 1);
      body.write(answer);
      // no stream takes it: once it is counted, the answer before it has been read
      body.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"behind it"}}\n');
      await until(() => counted.dropped > 0);
      first.open();
      expect(await asked).toMatchObject({ result: { tools: [] } });
    });
    expect(unhandled).toEqual([]);
    await channel.close();
    // what was read of the second answer is given back after the first one was told
    await until(() => lab.held.used === 0);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('is read as the work of the caller whose channel it is', async () => {
    const { lab, body, sent, channel } = channelOf();
    const owners: unknown[] = [];
    const asked = channel.inquire('tools/list', {}, undefined, async (_message, owner) => {
      owners.push(owner);
      return {};
    });
    await until(() => sent.length === 1);
    const { id } = JSON.parse(sent[0] as string) as { id: string };
    body.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } })}\n`);
    expect(await asked).toMatchObject({ result: {} });
    expect(owners).toEqual([{ principal: 'ann', server: lab.deps.server }]);
    await channel.close();
  });
});
