import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transfer } from '../../../gateway/ports/transfer.js';
import { someBytes } from '../../helpers/bytes.js';
import { bytesOf, calm, failureOf, type Peer, rules, says, startPeer, transferTo } from './peer.js';

let peer: Peer;
let transfer: Transfer;

beforeAll(async () => {
  peer = await startPeer();
  transfer = transferTo(peer);
});
afterAll(async () => {
  await transfer.close();
  await peer.close();
});

describe('a host that would keep the process busy', () => {
  it('in chunks of one byte: they come joined, each once, and its end is still noticed', async () => {
    const bytes = someBytes(20_000);
    const chunks = Buffer.concat([...bytes].map((byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a])));
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const text = Buffer.concat([Buffer.from(head), chunks]);
    for (const [said, isWhole] of [
      [Buffer.concat([text, Buffer.from('0\r\n\r\n')]), true] as const,
      [text, false] as const,
    ]) {
      const server = await says(said);
      const { body } = await transfer.download(
        { url: server.url, rules: rules(peer, { ownOrigin: server.url }) },
        calm(),
      );
      const pieces: Buffer[] = [];
      const end = (async () => {
        for await (const piece of body as AsyncIterable<Buffer>) pieces.push(piece);
      })();
      if (isWhole) {
        await end;
        expect(Buffer.concat(pieces)).toEqual(bytes);
      } else expect(await failureOf(end)).toMatchObject({ code: 'fetch_failed' });
      server.close();
      // one for each chunk were 20000
      expect(pieces.length).toBeLessThan(1000);
    }
  });

  it('with answers before its answer: one or two are usual, without end they are none', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
    const some = await says(`${early}${early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    expect(String(await bytesOf(transfer, some.url, rules(peer, { ownOrigin: some.url })))).toBe('ok');
    some.close();
    for (const line of [early, 'HTTP/1.1 100 Continue\r\n\r\n']) {
      const many = await says(line.repeat(100), 'silent');
      const failure = await failureOf(bytesOf(transfer, many.url, rules(peer, { ownOrigin: many.url })));
      expect(failure).toMatchObject({ code: 'fetch_failed', facts: { reason: 'it does not come to its answer' } });
      many.close();
    }
  });
});
