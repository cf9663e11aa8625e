import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image } from './handoff-lab.js';

const TEXT = { type: 'string' };
const PICTURE = image();
const SMALL = Buffer.from([0, 1, 2, 253, 254, 255]);
const SMALL_URI = `data:application/octet-stream;name=x.bin;base64,${SMALL.toString('base64')}`;

describe('a file that stands in a call itself', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: [
        { name: 'take', inputSchema: { type: 'object', properties: { file: TEXT, link: TEXT } } },
        { name: 'give', inputSchema: { type: 'object' } },
      ],
      methods: {
        'tools/call': ({ name }) =>
          name === 'give'
            ? { content: [{ type: 'image', mimeType: 'image/png', data: PICTURE.toString('base64') }] }
            : { content: [] },
      },
    });
    const files = { file: { encoding: 'base64' }, link: { encoding: 'httpsUrl' } };
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http', tools: { take: { files } } } },
    });
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  /** What the log says of the files of a call. */
  async function told(args: Record<string, unknown>): Promise<Record<string, unknown>[]> {
    const before = wharf.lines.length;
    const { result } = await client.call('take', args);
    expect(result).toEqual({ content: [] });
    return wharf.lines
      .slice(before)
      .filter(({ text }) => text === 'a file was handed over')
      .map(({ fields }) => fields);
  }

  async function upload(bytes: Buffer): Promise<string> {
    const { result } = await client.call('request_file_upload', { name: 'mine.bin' });
    const { file, upload: how } = (result?.structuredContent ?? {}) as {
      file: { uri: string };
      upload: { url: string };
    };
    const answer = await fetch(how.url, { method: 'POST', body: new Uint8Array(bytes) });
    expect(answer.status).toBe(201);
    return file.uri;
  }

  /** The file behind a link that the server got. */
  const fileOf = async () => (await fetch(String(upstream.lastArguments.link))).headers.get('etag');

  it('the same data: URI twice is one file where it has to be stored (2356-48)', async () => {
    await client.call('take', { link: SMALL_URI });
    const first = await fileOf();
    await client.call('take', { link: SMALL_URI });
    expect(await fileOf()).toBe(first);
    const [one, two] = [await told({ link: SMALL_URI }), await told({ link: SMALL_URI })];
    expect(one).toEqual(two);
  });

  it('is of unknown origin, however it is spelled (2356-55)', async () => {
    for (const file of [SMALL_URI, SMALL.toString('base64')]) {
      expect(await told({ file })).toEqual([
        expect.objectContaining({ origin: 'unknown', argument: 'file', to: 's', size: 6, principal: 'anonymous' }),
      ]);
    }
    // it has been stored for its link, and is not a user's choice for that
    expect(await told({ link: SMALL_URI })).toEqual([expect.objectContaining({ origin: 'unknown', argument: 'link' })]);
  });

  it('only what came by an upload ticket is uploaded, and a server’s file says which server’s (2356-55)', async () => {
    expect(await told({ file: await upload(SMALL) })).toEqual([
      expect.objectContaining({ origin: 'uploaded', size: 6 }),
    ]);
    const { uri } = announced((await client.call('give')).result);
    expect(await told({ file: uri })).toEqual([expect.objectContaining({ origin: 'handoff', from: 's', to: 's' })]);
  });

  it('nothing of what is in it is logged (2356-55)', async () => {
    await client.call('take', { file: SMALL_URI });
    expect(wharf.logged()).not.toContain(SMALL.toString('base64'));
  });
});
