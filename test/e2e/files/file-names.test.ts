import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { RawClient } from '../../helpers/raw-client.js';
import { filesystemServer } from '../../helpers/sdk-servers.js';
import { noise } from '../../helpers/sdk-servers-bytes.js';
import { startWharf } from '../../helpers/wharf.js';
import { type Lab, lab } from './recording-lab.js';

let photo: Buffer;
let other: Buffer;
beforeAll(async () => {
  const jpeg = (bytes: Buffer) => sharp(bytes, { raw: { width: 900, height: 900, channels: 3 } }).jpeg({ quality: 95 });
  photo = await jpeg(noise(900 * 900 * 3)).toBuffer();
  other = await jpeg(noise(900 * 900 * 3, 2)).toBuffer();
});

const image = (bytes: Buffer) => ({ type: 'image', mimeType: 'image/jpeg', data: bytes.toString('base64') });
const text = (words: string) => ({ type: 'text', text: words });
const namesIn = (result: Record<string, unknown> | undefined) =>
  ((result?._meta as Record<string, { name: string }[]> | undefined)?.['dev.wharf/files'] ?? []).map(
    ({ name }) => name,
  );

describe('the names of files that have none of their own', () => {
  let camera: Lab;
  let content: unknown[] = [];

  beforeAll(async () => {
    const tools = [{ name: 'shoot', inputSchema: { type: 'object' } }];
    camera = await lab(tools, { methods: { 'tools/call': () => ({ content }) } });
  });

  afterAll(() => camera?.stop());

  async function named(args: Record<string, unknown>, blocks: unknown[]): Promise<string[]> {
    content = blocks;
    return namesIn((await camera.client.call('shoot', args)).result);
  }

  it('come from the call', async () => {
    expect(await named({ path: '/a/harbour.jpg' }, [image(photo)])).toEqual(['harbour.jpg']);
    expect(await named({ path: '/a/report.docx' }, [image(photo)])).toEqual(['report.jpg']);
    expect(await named({ paths: ['a.jpg', 'n.txt', 'b.jpeg'] }, [image(photo), text('n'), image(other)])).toEqual([
      'a.jpg',
      'b.jpeg',
    ]);
    expect(await named({ path: 'deck.pptx' }, [image(photo), image(other)])).toEqual(['deck.jpg', 'deck-2.jpg']);
  });

  it('come from the text before the file', async () => {
    const saved = text('Saved as "Harbour at night.jpg" (1.2 MB).');
    expect(await named({}, [saved, image(photo)])).toEqual(['Harbour at night.jpg']);
    expect(
      await named({ path: 'album.zip' }, [text('one.jpg:'), image(photo), text('two.jpg:'), image(other)]),
    ).toEqual(['album.jpg', 'two.jpg']);
    // which of them it is cannot be told
    expect(await named({}, [text('a.jpg or b.jpg'), image(photo)])).toEqual(['shoot-1.jpg']);
    expect(await named({}, [text('see notes.txt'), image(photo)])).toEqual(['shoot-1.jpg']);
  });

  it('are the tool’s where nothing is told, and a name that a server gives stands', async () => {
    expect(await named({}, [image(photo), image(other)])).toEqual(['shoot-1.jpg', 'shoot-2.jpg']);
    const blob = photo.toString('base64');
    const resource = { uri: 'docs://x/real.jpg', mimeType: 'image/jpeg', blob };
    expect(await named({ path: 'other.jpg' }, [{ type: 'resource', resource }])).toEqual(['real.jpg']);
    const nameless = { uri: 'docs://x/4711', mimeType: 'image/jpeg', blob };
    expect(await named({ path: 'other.jpg' }, [{ type: 'resource', resource: nameless }])).toEqual(['other.jpg']);
  });

  it('lead nowhere and hide nothing', async () => {
    expect(await named({ path: '../../.ssh/id\u202Egnp.jpg' }, [image(photo)])).toEqual(['idgnp.jpg']);
    const [name = ''] = await named({ name: 'x'.repeat(79) }, [image(photo)]);
    expect(name).toBe(`${'x'.repeat(79)}.jpg`);
  });
});

it('the photo of the filesystem server is called harbour.jpg', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-names-'));
  await writeFile(join(folder, 'harbour.jpg'), photo);
  const [command = '', ...args] = filesystemServer(folder).command ?? [];
  const wharf = await startWharf({ servers: { files: { command: [command, ...args] } } });
  try {
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.call('read_media_file', { path: join(folder, 'harbour.jpg') });
    const [told, , link] = result?.content ?? [];
    expect(told?.text).toMatch(/^harbour\.jpg · image\/jpeg · /);
    expect(link).toMatchObject({
      type: 'resource_link',
      name: 'harbour.jpg',
      mimeType: 'image/jpeg',
      size: photo.length,
    });
    const answer = await fetch(String(link?.uri));
    expect(answer.headers.get('content-disposition')).toContain('harbour.jpg');
  } finally {
    await wharf.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
