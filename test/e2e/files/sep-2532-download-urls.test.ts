import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FaultStores, filesystemStores, s3Stores } from '../../helpers/fault-stores.js';
import type { RawClient } from '../../helpers/raw-client.js';
import { ANY, blob, bytesOf, F6, JSON_ONLY, type Lab, resultOf, startLab, stream } from './sep-2532-lab.js';
import { authorizeUpload, sendForm } from './sep-2631-lab.js';

const SECRET = 'docs://payroll/salaries-of-march.json';
/** The same bytes under another address. */
const TWIN = 'docs://payroll/salaries-of-april.json';

describe.each([
  ['filesystem+memory', undefined],
  ['s3+redis', 'presigned'],
  ['s3+redis', 'gateway'],
] as const)('downloadUrl with %s and links of the style %s', (kind, style) => {
  let stores: FaultStores;
  let lab: Lab;
  let client: RawClient;

  beforeAll(async () => {
    stores = kind === 's3+redis' ? s3Stores() : await filesystemStores();
    lab = await startLab({
      resources: {
        [SECRET]: blob(SECRET, F6, 'application/json'),
        [TWIN]: blob(TWIN, F6, 'application/json'),
      },
      config: { ...stores.config, links: { ttl: '5m', ...(style && { style }) } },
    });
    client = await lab.client();
  });
  afterAll(async () => {
    await lab?.close();
    await stores?.close();
  });

  const linkFor = async (uri: string) => String((await resultOf(await stream(client, uri, JSON_ONLY))).downloadUrl);

  it('is an address of Wharf, and says nothing of the resource (2532-54, 2532-55)', async () => {
    const url = await linkFor(SECRET);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/d\/[\w-]{43}$/);
    expect(await bytesOf(await fetch(url))).toEqual(F6);
  });

  it.each([SECRET, TWIN])('is answered with the address of the resource: %s (2532-34, 2532-58)', async (uri) => {
    const { headers, status } = await fetch(await linkFor(uri), { redirect: 'manual' });
    expect(status).toBe(kind === 's3+redis' ? 302 : 200);
    expect(headers.get('mcp-resource-uri')).toBe(uri);
    expect(headers.get('cache-control')).toMatch(/^no-store/);
  });

  it("of a file of Wharf's own is answered with its handle (2532-34)", async () => {
    const { file, upload } = await authorizeUpload(client, { name: 'own.json', mimeType: 'application/json' });
    expect((await sendForm(upload, F6)).status).toBe(201);
    const url = String((await resultOf(await stream(client, file.uri, ANY))).downloadUrl);
    const answer = await fetch(url, { redirect: 'manual' });
    expect(answer.headers.get('mcp-resource-uri')).toBe(file.uri);
    expect(await bytesOf(await fetch(url))).toEqual(F6);
    // the same file by its link, which is a right, and no name
    const again = String((await resultOf(await stream(client, url, ANY))).downloadUrl);
    expect((await fetch(again, { redirect: 'manual' })).headers.get('mcp-resource-uri')).toBe(file.uri);
  });
});
