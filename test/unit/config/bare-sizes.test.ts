import { describe, expect, it } from '@jest/globals';
import { configOf } from './load-text.js';

const HASH = `sha256:${'ab'.repeat(32)}`;

const warned = async (text: string) => (await configOf(text)).warnings.map(({ path, message }) => `${path} ${message}`);

describe('a size written as a short number without a unit', () => {
  it('is told at each place, with what to write instead, since it is bytes', async () => {
    const text = `
servers:
  a:
    url: http://127.0.0.1:1/mcp
    limits: { file: 50 }
    tools: { scan: { files: { doc: { encoding: base64, maxSize: 5 } } } }
limits: { file: 100, inlineImage: 500, files: 7, filesPerDay: 9 }
ceiling: { storedBytes: 20 }
callers: [{ principal: ci, limits: { bytesPerDay: 3, requestsPerMinute: 60 } }]
auth: { use: apiKeys, keys: [{ name: ci, hash: "${HASH}", limits: { file: 4 } }] }
`;
    const unit = (n: number) =>
      `is ${n}B: a number without a unit is bytes. Write ${n}MB or ${n}kB for more, or ${n}B if that is meant`;
    expect((await warned(text)).sort()).toEqual([
      `auth.keys[0].limits.file ${unit(4)}`,
      `callers[0].limits.bytesPerDay ${unit(3)}`,
      `ceiling.storedBytes ${unit(20)}`,
      `limits.file ${unit(100)}`,
      `limits.inlineImage ${unit(500)}`,
      `servers.a.limits.file ${unit(50)}`,
      `servers.a.tools.scan.files.doc.maxSize ${unit(5)}`,
    ]);
  });

  it('is not told of a size with a unit, of none at all, and of a number that is clearly bytes', async () => {
    const text = `
servers: { file: { command: [node], env: { file: "7" } } }
limits: { file: 100B, inlineImage: 0, inlineOther: 1024, message: 65536 }
`;
    expect(await warned(text)).toEqual([]);
  });
});
