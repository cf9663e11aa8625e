import { describe, expect, it } from '@jest/globals';
import { create as sep1306 } from '../../../../adapters/dialects/sep-1306/index.js';
import { create as sep2356 } from '../../../../adapters/dialects/sep-2356/index.js';
import type { Means } from '../../../../gateway/policy/means.js';
import type { TransferMode } from '../../../../gateway/ports/file-slot.js';
import type { JsonObject } from '../../../../gateway/ports/json.js';
import { elicitationFor } from '../../../../gateway/relay/asking/declared.js';
import { asksBy, wayFor } from '../../../../gateway/relay/asking/means.js';

const dialects = [sep1306(), sep2356()];
const ALL: Means[] = ['binary', 'form', 'url'];
const FILE = { name: 'scan', maxSize: 1000, maxInline: 300, accept: ['image/*', 'application/pdf'] };
const UPLOAD = { url: 'http://gw/u/x', id: 'the-id' };

const client = (protocolVersion: string, capabilities: JsonObject) => ({ protocolVersion, capabilities });
const asked = (version: string, capabilities: JsonObject, order: readonly Means[] = ALL) => {
  const way = wayFor(FILE, client(version, capabilities), { order, dialects });
  return way && { means: way.means, params: way.params('Give it', UPLOAD) };
};

describe('how a client is asked', () => {
  it.each<[string, JsonObject, 'request' | 'result' | undefined]>([
    ['2025-03-26', { elicitation: {} }, undefined],
    ['2025-06-18', { elicitation: {} }, 'request'],
    ['2025-11-25', { elicitation: { url: {} } }, 'request'],
    ['2025-11-25', {}, undefined],
    ['2026-07-28', { elicitation: {} }, 'result'],
  ])('on %s with %j: by %s', (version, capabilities, by) => {
    expect(asksBy(client(version, capabilities))).toBe(by);
  });

  it('by a page where it opens pages, with an id before 2026-07-28 (1306-40)', () => {
    const params = { mode: 'url', url: UPLOAD.url, message: 'Give it' };
    const url = { elicitation: { url: {} } };
    expect(asked('2025-11-25', url)).toEqual({ means: 'url', params: { ...params, elicitationId: 'the-id' } });
    expect(asked('2026-07-28', url)).toEqual({ means: 'url', params });
    expect(asked('2025-06-18', url)).toBeUndefined();
    expect(asked('2025-11-25', { elicitation: {} })).toBeUndefined();
    expect(asked('2025-11-25', { elicitation: { url: true } })).toBeUndefined();
  });

  it('by a page, or by none, where its host is known to declare that wrongly', () => {
    const means = (elicitation: JsonObject | undefined, opensPages: boolean) => {
      const capabilities = elicitation ? { elicitation } : {};
      return wayFor(FILE, { ...client('2025-11-25', capabilities), host: { opensPages } }, { order: ALL, dialects })
        ?.means;
    };
    expect(means({}, true)).toBe('url');
    expect(means({ url: {} }, false)).toBeUndefined();
    expect(means(undefined, true)).toBeUndefined();
  });

  it.each<[string, JsonObject, readonly TransferMode[] | undefined, JsonObject | undefined]>([
    ['uploads', { files: { upload: true } }, undefined, { maxSize: 1000, transferModes: ['inline', 'upload'] }],
    ['uploads', { files: { upload: true } }, ['upload'], { maxSize: 1000, transferModes: ['upload'] }],
    ['uploads', { files: { upload: true } }, ['inline'], { maxSize: 1000, transferModes: ['inline', 'upload'] }],
    ['has fields for bytes', { fileInputs: {} }, ['inline', 'upload'], { maxSize: 300 }],
    [
      'uploads by https',
      { files: { upload: true, transports: ['quic', 'https'] } },
      ['upload'],
      { maxSize: 1000, transferModes: ['upload'] },
    ],
    ['uploads by other transports only', { files: { upload: true, transports: ['quic'] } }, ['upload'], undefined],
    ['has fields for bytes', { fileInputs: {} }, ['upload'], undefined],
  ])(
    'by a form that says how the file may come: one that %s, %j, %j (2631-08, 2631-16, 2631-23)',
    (_what, more, modes, said) => {
      const file = { ...FILE, isServers: true as const, ...(modes && { transferModes: modes }) };
      const way = wayFor(file, client('2025-11-25', { elicitation: {}, ...more }), { order: ALL, dialects });
      const shown = way?.params('Give it', UPLOAD).requestedSchema as { properties: { scan: JsonObject } } | undefined;
      expect(shown?.properties.scan['x-mcp-file']).toEqual(said && { accept: FILE.accept, ...said });
    },
  );

  it('by a form where it knows fields for files, by the keyword or the early sidecar (2356-13)', () => {
    const about = { accept: ['image/*', 'application/pdf'], maxSize: 300 };
    const field = { type: 'string', format: 'uri', title: 'scan', 'x-mcp-file': about };
    const requestedSchema = { type: 'object', properties: { scan: field }, required: ['scan'] };
    const form = { message: 'Give it', requestedSchema, requestedFiles: { scan: about } };
    const capabilities = { elicitation: {}, fileInputs: {} };
    expect(asked('2025-06-18', capabilities)?.params).toEqual(form);
    expect(asked('2025-11-25', capabilities)?.params).toEqual({ mode: 'form', ...form });
    expect(asked('2026-07-28', { elicitation: { form: { fileInputs: {} } } })?.means).toBe('form');
    expect(asked('2025-11-25', { elicitation: { form: {} } })).toBeUndefined();
    expect(asked('2025-11-25', { elicitation: { url: {} }, fileInputs: {} })?.means).toBe('url');
  });

  it('by a form of a client that uploads only where a server asks: it may not know such fields (2631-67)', () => {
    const uploads = { elicitation: {}, files: { upload: true } };
    expect(asked('2025-11-25', uploads)).toBeUndefined();
    const ofServer = (capabilities: JsonObject) =>
      wayFor({ ...FILE, isServers: true }, client('2025-11-25', capabilities), { order: ALL, dialects })?.means;
    expect(ofServer(uploads)).toBe('form');
    expect(ofServer({ elicitation: {} })).toBeUndefined();
    expect(ofServer({ files: { upload: true } })).toBeUndefined();
  });

  it('by binary elicitation, within what the client takes (1306-02, 1306-03, 1306-04, 1306-06, 1306-07, 1306-10)', () => {
    const binary = { maxFileSize: 100, supportedMimeTypes: ['image/png'] };
    expect(asked('2025-11-25', { elicitation: { binary, url: {} } })).toEqual({
      means: 'binary',
      params: {
        mode: 'binary',
        message: 'Give it',
        requestedSchema: {
          type: 'object',
          properties: {
            scan: { type: 'file', title: 'scan', description: 'Give it', accept: ['image/png'], maxSize: 100 },
          },
          required: ['scan'],
        },
        uploadEndpoints: { scan: { url: UPLOAD.url, method: 'POST', uploadId: 'the-id' } },
      },
    });
    const other = { supportedMimeTypes: ['video/*'] };
    expect(asked('2025-11-25', { elicitation: { binary: other, url: {} } })?.means).toBe('url');
    const any = asked('2025-11-25', { elicitation: { binary: {} } })?.params.requestedSchema;
    expect(any).toMatchObject({ properties: { scan: { accept: ['image/*', 'application/pdf'], maxSize: 1000 } } });
  });

  it('in the order of the config, and not at all where that is empty', () => {
    const all = { elicitation: { form: {}, url: {}, binary: {} }, fileInputs: {} };
    expect(asked('2025-11-25', all, ['url', 'form'])?.means).toBe('url');
    expect(asked('2025-11-25', all, ['form', 'url'])?.means).toBe('form');
    expect(asked('2025-11-25', all)?.means).toBe('binary');
    expect(asked('2025-11-25', all, [])).toBeUndefined();
  });
});

describe('a client of which the operator says how it asks its user', () => {
  const configured = (elicitation: Means[], capabilities: JsonObject = {}, order: readonly Means[] = ALL) =>
    wayFor(FILE, { ...client('2025-11-25', capabilities), elicitation }, { order, dialects })?.means;

  it('is asked that way, whatever it declares, in that order and within what is allowed for all', () => {
    expect(configured(['url'])).toBe('url');
    expect(configured(['form', 'url'])).toBe('form');
    expect(configured(['binary'])).toBe('binary');
    expect(configured(['url'], { elicitation: { binary: {} } })).toBe('url');
    expect(configured([], { elicitation: { url: {} } })).toBeUndefined();
    expect(configured(['form', 'url'], {}, ['url'])).toBe('url');
    expect(asksBy({ ...client('2026-07-28', {}), elicitation: ['url'] })).toBe('result');
    expect(asksBy({ ...client('2026-07-28', {}), elicitation: [] })).toBeUndefined();
  });

  it('has servers told so', () => {
    const facts = { ...client('2025-11-25', {}), elicitation: ['url'] as const };
    const told = elicitationFor(facts, { order: ALL, dialects, limits: { file: 1000 } });
    expect(told).toEqual({ binary: { maxFileSize: 1000 } });
  });
});

describe('what a server is told of its elicitation', () => {
  const told = (version: string, capabilities: JsonObject) =>
    elicitationFor(client(version, capabilities), { order: ALL, dialects, limits: { file: 1000 } });

  it.each<[JsonObject, JsonObject | undefined]>([
    [{ elicitation: {} }, undefined],
    [
      { elicitation: {}, fileInputs: {} },
      { form: {}, binary: { maxFileSize: 1000 } },
    ],
    [{ elicitation: { url: {} } }, { url: {}, binary: { maxFileSize: 1000 } }],
    [{ elicitation: { binary: { maxFileSize: 9, x: 1 } } }, { binary: { maxFileSize: 9, x: 1 } }],
    [{}, undefined],
  ])('of a client with %j: %j (1306-01, 1306-05)', (capabilities, expected) => {
    expect(told('2025-11-25', capabilities)).toEqual(expected);
  });

  it('is what the client says where no question of Wharf’s reaches it', () => {
    expect(told('2025-03-26', { elicitation: { url: {} } })).toBeUndefined();
    expect(told('2026-07-28', { elicitation: { form: {} } })).toBeUndefined();
    expect(told('2026-07-28', { elicitation: { url: {} } })).toEqual({ url: {}, binary: { maxFileSize: 1000 } });
  });
});
