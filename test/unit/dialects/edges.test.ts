import { describe, expect, it } from '@jest/globals';
import { create as mcpInline } from '../../../adapters/dialects/mcp-inline/index.js';
import { create as openai } from '../../../adapters/dialects/openai-file-params/index.js';
import { asks as binary } from '../../../adapters/dialects/sep-1306/binary.js';
import { asks as form } from '../../../adapters/dialects/sep-2356/form.js';
import { descriptorOf, readDescriptor } from '../../../adapters/dialects/sep-2356/keyword.js';
import { readRefusal } from '../../../adapters/dialects/sep-2356/refuse.js';
import { showTool } from '../../../adapters/dialects/sep-2356/show-tool.js';
import { showResources } from '../../../adapters/dialects/sep-2532/lists.js';
import { slotsOf } from '../../../adapters/dialects/sep-2631/declared.js';
import { remoteFiles, rename } from '../../../adapters/dialects/sep-2631/remote-files.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { OutgoingFile, ShownSlot } from '../../../gateway/ports/dialect.js';
import type { JsonObject } from '../../../gateway/ports/json.js';

const client = (capabilities: JsonObject = {}, more: Partial<ClientFacts> = {}): ClientFacts => ({
  protocolVersion: '2025-11-25',
  capabilities,
  ...more,
});
const toolOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 't',
  inputSchema: { type: 'object', properties },
  ...more,
});
const ref = { uri: 'mcp-file://w/f_1', url: 'https://w.example/d/1', name: 'a', mimeType: 'image/png', size: 1 };
const outgoing = { ref: { ...ref, digest: 'sha-256:x' } } as unknown as OutgoingFile;

describe('what a client says of files that it can give', () => {
  const by = (said: JsonObject) => client({ elicitation: { binary: said } });

  it('names no size where it names zero', () => {
    expect(binary.narrow?.({ maxSize: 100 }, by({ maxFileSize: 0 }))).toEqual({ maxSize: 100 });
  });

  it('names the types before the slash of a wildcard, and none that only begin like them', () => {
    const narrowed = (type: string) =>
      binary.narrow?.({ maxSize: 1, accept: [type] }, by({ supportedMimeTypes: ['image/*', 'text/plain'] }));
    expect(narrowed('image/png')?.accept).toEqual(['image/png']);
    const asked = { name: 'f', message: '', maxInline: 1, upload: { url: 'https://w.example/u', id: 'u' } };
    const question = { ...asked, maxSize: 1, accept: ['imagery/x'] };
    expect(binary.question(question as never, by({ supportedMimeTypes: ['image/*'] }))).toBeUndefined();
  });

  it('is not an answer where one of several files is not a text', () => {
    expect(form.answer({ f: ['data:,a'] }, 'f', 'u')).toEqual({ kind: 'inline', uris: ['data:,a'] });
    expect(form.answer({ f: ['data:,a', 7] }, 'f', 'u')).toEqual({ kind: 'invalid' });
  });
});

describe('what a server says of a file argument', () => {
  it('is malformed with a size of zero, which Wharf never shows either', () => {
    expect(readDescriptor({ maxSize: 0 })).toBeUndefined();
    expect(readDescriptor({ maxSize: 1 })).toEqual({ maxSize: 1 });
    expect(descriptorOf(undefined, 0)).toEqual({ maxSize: 1 });
  });

  it('declares no file by modes of which Wharf knows none', () => {
    const keyword = (transferModes: string[]) =>
      slotsOf(toolOf({ a: { type: 'string', 'x-mcp-file': { transferModes } } }));
    expect(keyword(['by pigeon'])).toEqual([]);
    expect(keyword(['by pigeon', 'inline'])).toHaveLength(1);
  });

  it('names no size by a length in which no base64 fits', () => {
    const sizes = [3, 4].map(
      (maxLength) =>
        mcpInline().slotsOf?.(toolOf({ a: { type: 'string', contentEncoding: 'base64', maxLength } }))[0]?.maxSize,
    );
    expect(sizes).toEqual([undefined, 3]);
  });

  it('always takes the address of a file of OpenAI, and other members only where it names them', () => {
    const tool = toolOf(
      { a: { type: 'object', properties: { file_name: { type: 'string' } } } },
      { _meta: { 'openai/fileParams': ['a'] } },
    );
    expect(openai().slotsOf?.(tool)[0]?.deliveries).toEqual([
      { kind: 'encoded', encoding: 'object', template: { download_url: '$url', file_name: '$name' } },
    ]);
  });
});

describe('a tool as a client is shown it', () => {
  const shown = (schema: JsonObject, declaredBy: string): ShownSlot => ({
    name: 'a',
    slot: { path: ['a'], declaredBy, deliveries: [{ kind: 'encoded', encoding: 'base64' }], companions: {} },
    at: ['inputSchema', 'properties', 'a'],
    schema,
    declared: schema,
    maxSize: 100,
    maxInline: 100,
    maxItems: 1,
  });

  it('has no list of OpenAI’s files where all in it are texts for that client', () => {
    const patches = openai().showTool?.(
      toolOf({ a: { type: 'object' } }, { _meta: { 'openai/fileParams': ['a'] } }),
      [shown({ type: 'object' }, 'openai-file-params')],
      client(),
    );
    expect(patches).toEqual([{ path: ['_meta', 'openai/fileParams'], value: undefined }]);
  });

  it('keeps the type of a file that is not said to be of its encoding', () => {
    const keys = (schema: JsonObject) =>
      mcpInline()
        .showTool?.(toolOf({ a: schema }), [shown(schema, 'config')], client())
        .map(({ path }) => path.at(-1));
    expect(keys({ type: 'string', contentMediaType: 'image/png' })).toEqual(['description']);
    expect(keys({ type: 'string', contentMediaType: 'image/png', contentEncoding: 'base64' })).toEqual([
      'contentEncoding',
      'contentMediaType',
      'description',
    ]);
  });

  it('is not changed below a property that is called as the prototype of objects is', () => {
    const properties = JSON.parse('{"__proto__":{"x-mcp-file":7},"b":{"x-mcp-file":7}}') as JsonObject;
    expect(showTool(toolOf(properties), [], client())).toEqual([
      { path: ['inputSchema', 'properties', 'b', 'x-mcp-file'], value: undefined },
    ]);
  });
});

describe('what a server says in an answer', () => {
  it('is repeated to a bounded length when it refuses a file', () => {
    const refusal = readRefusal({
      error: {
        code: -32602,
        message: 'x'.repeat(10_000),
        data: { reason: 'file_too_large', argument: 'a' },
      },
    });
    expect(refusal?.text.length).toBeLessThan(1000);
  });

  it('is about the files inside an object, and not about the object around them', () => {
    const structuredContent = { uri: 'docs://list', first: { uri: 'mcp-file://s/1' } };
    expect(remoteFiles({ structuredContent }).map(({ path }) => path)).toEqual([['structuredContent', 'first']]);
  });

  it('gets no new members in an object whose schema allows none', () => {
    const reader = client({ files: { download: true } });
    const told = (isFixed: boolean) =>
      rename({ uri: 'mcp-file://s/1', name: 'before' }, outgoing, reader, isFixed).map(({ path }) => path[0]);
    expect(told(true)).toEqual(['uri', 'name']);
    expect(told(false)).toEqual(['uri', 'name', 'mimeType', 'size', 'digest']);
  });

  it('says itself of a resource whether it is better streamed', () => {
    const mark = showResources(client({ resourceStreaming: true }));
    expect(mark?.({ mimeType: 'image/png' })).toEqual({ streamable: true });
    expect(mark?.({ mimeType: 'image/png', streamable: false })).toEqual({});
  });

  it('has the file itself as structuredContent for OpenAI’s clients, and several as a list in it', () => {
    const chatGpt = client({}, { dialects: ['openai-file-params'] });
    const { uri: file_id, url: download_url, name: file_name, mimeType: mime_type } = ref;
    const one = { download_url, file_id, mime_type, file_name };
    expect(openai().structure?.([outgoing], chatGpt)).toEqual(one);
    expect(openai().structure?.([outgoing, outgoing], chatGpt)).toEqual({ files: [one, one] });
  });
});
