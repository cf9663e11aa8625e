import { describe, expect, it } from '@jest/globals';
import { create as mcpInline } from '../../../adapters/dialects/mcp-inline/index.js';
import { create as sep2631 } from '../../../adapters/dialects/sep-2631/index.js';
import type { JsonObject } from '../../../gateway/ports/json.js';
import { mayNameFiles } from '../../../gateway/relay/results/remote-files.js';
import { RelayLab } from '../relay/relay-lab.js';

const dialects = [sep2631(), mcpInline()];
const relayed = async (result: string) => {
  const lab = new RelayLab({ dialects });
  const { text } = await lab.relay([Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)]);
  return { text, asked: lab.asked };
};

describe('a result that may name files which its server keeps', () => {
  it.each([
    ['in an object', '{"content":[],"structuredContent":{"out":{"uri":"mcp-file://s/1","uri":"mcp-file://s/2"}}}'],
    ['in a block', '{"content":[{"type":"file","file":{"uri":"mcp-file://s/1","uri":"mcp-file://s/2"}}]}'],
  ])('is refused when it names one twice over %s: clients differ on which counts', async (_where, result) => {
    const { text } = await relayed(result);
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'file_key_duplicate' } } });
  });

  it.each([
    '{"content":[{"type":"text","text":"a \\"file\\" and its digest"}]}',
    '{"content":[{"type":"resource_link","uri":"https://example.com/a","name":"a"}], "x" : 1e400 }',
    '{"content":[],"structuredContent":{"file":"a","uri":"docs://a","text":"a"}}',
    '{"content":[{"type":"file","file":{"uri":"nothing"}},{"type":"file"},{"type":"file","file":7}]}',
    '{"content":7,"structuredContent":[[[{"uri":7,"digest":{}}]]]}',
  ])('asks no server and keeps every byte where it names none: %s', async (result) => {
    const { text, asked } = await relayed(result);
    expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    expect(asked).toBe(0);
  });

  it('does not take a deep structure for more than it is', async () => {
    const deep = `${'{"a":'.repeat(60)}{"uri":"mcp-file://s/1"}${'}'.repeat(60)}`;
    expect((await relayed(`{"content":[],"structuredContent":${deep}}`)).asked).toBe(0);
  });

  it('is told by a mark anywhere in it, across whatever it is looked at in', () => {
    const mark = '"uri"';
    for (let at = 65_528; at < 65_545; at++) {
      const bytes = Buffer.concat([Buffer.alloc(at, 32), Buffer.from(mark), Buffer.alloc(100, 32)]);
      expect(mayNameFiles([bytes], ['tools/call'], dialects)).toBe(true);
      expect(mayNameFiles([bytes.subarray(0, at + 2), bytes.subarray(at + 2)], ['tools/call'], dialects)).toBe(true);
    }
    expect(mayNameFiles([Buffer.from('"ur" i"')], ['tools/call'], dialects)).toBe(false);
  });
});

describe('a resource whose contents are a file that its server keeps', () => {
  const read = (item: JsonObject) => sep2631().transfer?.remoteFiles({ contents: [item] })[0];
  const uri = 'mcp-file://s/1';

  it('is named after its own URI where nothing else names it', () => {
    const resource = 'mcp-resource://reports/monthly.pdf';
    expect(read({ uri: resource, mimeType: 'application/pdf', content: { uri } })).toEqual({
      path: ['contents', 0],
      kind: 'resource',
      uri,
      claims: { uri: resource, mimeType: 'application/pdf' },
    });
  });

  it('is what `content` says of it, and otherwise what is said beside that', () => {
    const beside = { uri: 'docs://a', name: 'a.txt', mimeType: 'text/plain', size: 7 };
    const content = { uri, name: 'b.pdf', size: 8 };
    expect(read({ ...beside, content })).toMatchObject({
      claims: { uri: 'docs://a', name: 'b.pdf', mimeType: 'text/plain' },
      size: 8,
    });
    const older = { type: 'file', file: { type: 'file', uri, source: 'generated' } };
    expect(read({ ...beside, content: older })).toMatchObject({ uri, claims: { name: 'a.txt' }, size: 7 });
  });
});
