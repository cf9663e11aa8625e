import { describe, expect, it } from '@jest/globals';
import { limitRows } from '../../../gateway/config/limit-rows.js';
import { configOf } from './load-text.js';

const TEXT = `
limits: { processes: 12 }
servers:
  ocr:
    url: http://127.0.0.1:1/mcp
    accepts: 1MiB
    limits: { connections: 7 }
    tools: { scan: { files: { doc: { encoding: base64, maxSize: 500kB, accept: [image/png] } } } }
`;

describe('what is said about the limits of a server', () => {
  it('is each value with the place that sets it, down to a tool’s argument', async () => {
    const config = await configOf(TEXT);
    const rows = (tool?: string) => limitRows(config.servers[0] as never, config, tool).split('\n');
    expect(rows('scan')).toEqual(
      expect.arrayContaining([
        '  processes: 12, by limits.processes',
        '  connections: 7, by servers.ocr.limits.connections',
        '  accepts: 1MiB, by servers.ocr.accepts',
        '  doc: 500kB, by servers.ocr.tools.scan.files.doc.maxSize',
        '  doc: image/png, by servers.ocr.tools.scan.files.doc.accept',
      ]),
    );
    const plain = await configOf('servers: { ocr: { url: "http://127.0.0.1:1/mcp" } }');
    expect(limitRows(plain.servers[0] as never, plain, undefined).split('\n')).toEqual([
      'Those of the server:',
      '  processes: 32, by default (limits.processes)',
      '  connections: 1024, by default (limits.connections)',
      '  accepts: 4MiB, by default (servers.ocr.accepts)',
      '',
    ]);
    expect(rows('other').some((row) => row.includes('doc'))).toBe(false);
  });
});
