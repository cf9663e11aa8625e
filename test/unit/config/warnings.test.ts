import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { logWarnings, summaryText } from '../../../gateway/report.js';
import { configOf } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';
const toldOf = async (objects: string) => {
  const config = await configOf(`${SERVER}objects: ${objects}\n`);
  const logged: unknown[] = [];
  logWarnings(config, adapters, { warn: (fields, text) => logged.push({ ...fields, text }) });
  return { logged, summary: summaryText(config, adapters) };
};

describe('a store whose bytes nothing protects on their way', () => {
  it.each(['http://s3:9000', 'http://10.0.0.7:7480', 'http://127.0.0.1.example.com'])(
    'is told at the start and by wharf check, with the key that mends it: %s (by reading)',
    async (endpoint) => {
      const { logged, summary } = await toldOf(`{ use: s3, bucket: files, endpoint: "${endpoint}" }`);
      expect(logged).toEqual([
        {
          path: 'objects.signPayload',
          text: expect.stringMatching(/^objects\.signPayload is false, .*Set signPayload: true, or an https:/),
        },
      ]);
      expect(summary).toMatch(/^ {2}warning: objects\.signPayload is false, /m);
    },
  );

  it.each([
    ['the bytes are signed', '{ use: s3, bucket: files, endpoint: "http://s3:9000", signPayload: true }'],
    ['there is TLS', '{ use: s3, bucket: files, endpoint: "https://s3.example.com" }'],
    ['it is AWS', '{ use: s3, bucket: files }'],
    ['it is on this machine', '{ use: s3, bucket: files, endpoint: "http://127.0.0.1:9000" }'],
    ['it is on this machine, by IPv6', '{ use: s3, bucket: files, endpoint: "http://[::1]:9000" }'],
    ['it is a folder', '{ use: filesystem, path: /tmp/files }'],
  ])('is not told where %s', async (_, objects) => {
    const { logged, summary } = await toldOf(objects);
    expect(logged).toEqual([]);
    expect(summary).not.toContain('warning');
  });
});
