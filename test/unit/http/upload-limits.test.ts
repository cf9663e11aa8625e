import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';

const LIMIT = 2000;
let server: UploadServer;

beforeAll(async () => {
  server = await startUploadServer({ stores: 'filesystem+memory', fileLimit: LIMIT });
});
afterAll(() => server.stop());

/** Without a length in the request's head: what is too much shows only while it arrives. */
function chunked(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 700));
      at += 700;
    },
  });
}

const ways = {
  'raw, with its length': (bytes: Uint8Array<ArrayBuffer>) => ({ method: 'PUT', body: bytes }),
  'raw, in chunks': (bytes: Uint8Array<ArrayBuffer>) => ({ method: 'PUT', body: chunked(bytes), duplex: 'half' }),
  'as a form': (bytes: Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.set('file', new Blob([bytes]), 'a.bin');
    return { method: 'POST', body: form };
  },
} satisfies Record<string, (bytes: Uint8Array<ArrayBuffer>) => object>;

describe.each([
  ['limits.file', LIMIT, {}],
  ['maxSize', LIMIT - 500, { maxSize: LIMIT - 500 }],
] as const)('an upload and %s', (limit, allowed, intent) => {
  it.each(Object.entries(ways))('%s: as large as allowed is stored whole', async (_way, request) => {
    const { url, uri } = await server.authorize(intent);
    const bytes = new Uint8Array(allowed).fill(7);
    const response = await fetch(url, request(bytes) as RequestInit);
    expect([response.status, await response.json()]).toMatchObject([201, { file: { size: allowed, uri } }]);
  });

  it.each(Object.entries(ways))(
    '%s: a byte more is refused by name, and nothing stays (G10)',
    async (_way, request) => {
      const { url } = await server.authorize(intent);
      const before = await server.keys();
      const response = await fetch(url, request(new Uint8Array(allowed + 1)) as RequestInit);
      expect(response.status).toBe(413);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      expect(error).toMatchObject({ code: 'upload_too_large', limit, maxSize: allowed });
      expect(Number(error.actualSize)).toBeGreaterThan(allowed);
      expect(await server.keys()).toEqual(before);
      expect(server.budget.used).toBe(0);
      const [refused] = server.lately.refusals;
      expect(refused).toMatchObject({
        principal: PRINCIPAL,
        method: 'upload',
        code: 'upload_too_large',
        limit,
        allowed,
      });
      expect(refused?.actual).toBeGreaterThan(allowed);
    },
  );
});
