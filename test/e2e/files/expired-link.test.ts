import { expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf } from '../../helpers/wharf.js';
import { OCR_FILES, OCR_TOOL, reasonOf, upload } from './sep-2631-lab.js';

it('a link that has expired is refused as such where it is an argument, and its handle still works', async () => {
  const server = await RecordingUpstream.start({ tools: [OCR_TOOL] });
  const wharf = await startWharf({
    servers: { ocr: { url: server.url, transport: 'streamable-http', tools: OCR_FILES } },
    config: { links: { ttl: '1s' } },
  });
  try {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25');
    const handle = await upload(client, Buffer.from('scan'), 'scan.png');
    const { result } = await client.call('get_file_link', { handle });
    const { url } = (result?.structuredContent ?? {}) as { url: string };
    await until(async () => (await fetch(url, { method: 'HEAD' })).status === 410);
    const answer = await client.call('ocr_image', { image_base64: url });
    expect(answer.result?.isError).toBe(true);
    expect(answer.result?.content?.[0]?.text).toMatch(/is a link that has expired; pass the handle of its file/);
    expect(reasonOf(answer)).toBe('fileExpired');
    expect((await client.call('ocr_image', { image_base64: handle })).result?.isError).toBeUndefined();
  } finally {
    await wharf.stop();
    await server.stop();
  }
});
