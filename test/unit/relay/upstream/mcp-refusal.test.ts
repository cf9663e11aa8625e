import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { isMcpRefusal } from '../../../../gateway/relay/upstream/mcp-refusal.js';

/** What it says of a body in these chunks, and what the next reader gets. */
async function told(chunks: readonly Buffer[]): Promise<{ isMcp: boolean; rest: string }> {
  const body = new PassThrough();
  const isMcp = isMcpRefusal({ status: 405, headers: {}, kind: 'json', body }, 's', 60_000);
  for (const chunk of chunks) {
    body.write(chunk);
    await new Promise(setImmediate);
  }
  const said = await isMcp;
  body.end();
  return { isMcp: said, rest: (await buffer(body)).toString() };
}

const bytesOf = (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));

describe('the JSON of a refusal', () => {
  it.each([
    ['of MCP', '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"{}"}}', true],
    ['of MCP, between blanks', '\r\n {"error":{"code":-32600,"message":"no"},"id":null,"jsonrpc":"2.0"} \n', true],
    ['of MCP, in a batch', '[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}]', true],
    ['of MCP, behind a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}', true],
    ['of a framework', '{"detail":"Method Not Allowed"}', false],
    ['of a framework that quotes MCP', '{"detail":"no method in {\\"jsonrpc\\":\\"2.0\\"}"}', false],
    ['that is a text', '"Method Not Allowed" ', false],
    ['too long to be looked at', JSON.stringify({ detail: 'a'.repeat(17_000) }), true],
  ])('%s is told at once and byte by byte, and nothing is lost', async (_whose, text, isMcp) => {
    expect(await told([Buffer.from(text)])).toEqual({ isMcp, rest: text });
    expect(await told(bytesOf(text))).toEqual({ isMcp, rest: text });
  });

  it('that ends before it is whole is not MCP’s', async () => {
    const body = new PassThrough();
    body.end('{"jsonrpc":');
    expect(await isMcpRefusal({ status: 405, headers: {}, kind: 'json', body }, 's', 60_000)).toBe(false);
  });
});
