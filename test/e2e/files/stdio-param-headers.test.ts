import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RawAnswer, RawClient, readAnswer } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { upload } from './sep-2631-lab.js';

const FILE = { type: 'string', contentEncoding: 'base64', 'x-mcp-header': 'Doc' };
/** More than a header of a server over HTTP may have. */
const BYTES = randomBytes(20_000);

let wharf: Wharf;
let client: RawClient;
let handle: string;

beforeAll(async () => {
  const command = [process.execPath, 'test/helpers/recording-stdio.fixture.mjs', JSON.stringify(FILE)];
  wharf = await startWharf({ servers: { local: { command } } });
  client = RawClient.stateless(wharf.mcp, '2026-07-28', {});
  await client.request('tools/list');
  handle = await upload(client, BYTES, 'doc.bin');
});

afterAll(async () => {
  await wharf?.stop();
});

async function take(headers: Record<string, string>): Promise<RawAnswer> {
  return readAnswer(await client.open('tools/call', { name: 'take', arguments: { file: handle } }, headers));
}

const delivered = () => wharf.lines.filter(({ text }) => text === 'a file was handed over').length;

describe('a stdio server whose file argument is repeated in a header', () => {
  it.each<[string, () => Record<string, string>]>([
    ['repeats as the client has written it', () => ({ 'mcp-param-doc': handle })],
    ['does not repeat, since the list shows the client no such header', () => ({})],
  ])('gets a file of any size for the handle, which the header %s', async (_how, headers) => {
    const before = delivered();
    const { status, messages } = await take(headers());
    expect([status, messages[0]?.error]).toEqual([200, undefined]);
    const [{ text = '' } = {}] = (messages[0]?.result?.content ?? []) as { text?: string }[];
    expect(JSON.parse(text)).toEqual({ value: BYTES.toString('base64') });
    expect(delivered()).toBe(before + 1);
  });

  it('is not asked where the header names another file', async () => {
    const before = delivered();
    const { status, messages } = await take({ 'mcp-param-doc': 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect([status, messages[0]?.error?.code]).toEqual([400, -32020]);
    expect(delivered()).toBe(before);
  });
});
