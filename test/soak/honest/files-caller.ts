import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { sha256, sha256Url } from '../../helpers/bytes.js';
import { noise } from '../../helpers/sdk-servers-bytes.js';
import { askForUpload, call, expectStatus, postForm, textOf } from './offers.js';
import { closeSession, type HonestTarget, openSession, timed } from './target.js';

/** Edges of square pictures whose PNG is about 1, 3 and 10 MB. */
const PICTURES = [
  { label: '1 MB', side: 580 },
  { label: '3 MB', side: 1000 },
  { label: '10 MB', side: 1820 },
] as const;

/** Stays under what an SDK server takes in one message over HTTP, as base64. */
const UPLOAD_BYTES = 2_000_000;
/** Stays inline: its bytes pass through the gateway as they are. */
const RESOURCE_BYTES = 2_000_000;

interface ListedFile {
  /** The short link that a model reads; it leads to the store by way of the gateway. */
  link: string;
  size: number;
  digest: string;
}

/** What an SDK client of a server of files does in one session. */
export async function useFiles(target: HonestTarget, server: string, round: number): Promise<void> {
  const kind = (what: string) => `${server}: ${what}`;
  const client = await timed(kind('initialize'), () => openSession(target, server));
  try {
    await timed(kind('tools/list'), () => client.listTools());
    for (const { label, side } of PICTURES) {
      const file = await timed(kind(`image, ${label}`), () => picture(client, side));
      await timed(kind(`download, ${label}`), () => download(file));
    }
    await uploadAndUse(client, kind, round);
    await timed(kind('resources/read, 2 MB'), () => read(client));
  } finally {
    await closeSession(client);
  }
}

async function picture(client: Client, side: number): Promise<ListedFile> {
  const result = await call(client, 'picture', { side });
  const [file] = (result._meta?.['dev.wharf/files'] ?? []) as ListedFile[];
  const link = /http\S+\/d\/[\w-]+/.exec(JSON.stringify(result.content))?.[0];
  if (!file || link === undefined) throw new Error(`no link came: ${JSON.stringify(result).slice(0, 500)}`);
  return { ...file, link };
}

async function download({ link, size, digest }: ListedFile): Promise<void> {
  const response = await fetch(link);
  if (!response.ok) throw new Error(`download: ${response.status} ${(await response.text()).slice(0, 300)}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length !== size) throw new Error(`download: ${bytes.length} bytes of ${size}`);
  const got = `sha-256:${sha256Url(bytes)}`;
  if (got !== digest) throw new Error(`download: ${got} instead of ${digest}`);
}

/** By a form, as a browser does it; then the handle in the place of the base64. */
async function uploadAndUse(client: Client, kind: (what: string) => string, round: number): Promise<void> {
  const bytes = noise(UPLOAD_BYTES, round % 256);
  const place = await timed(kind('ask for an upload'), () => askForUpload(client));
  await timed(kind('upload, 2 MB'), async () => expectStatus(await postForm(place, bytes), 201));
  await timed(kind('use a handle, 2 MB'), async () => {
    const told = textOf(await call(client, 'digest', { data: place.uri }));
    if (told !== sha256(bytes)) throw new Error(`the server got other bytes: ${told.slice(0, 300)}`);
  });
}

async function read(client: Client): Promise<void> {
  const { contents } = await client.readResource({ uri: `noise:///${RESOURCE_BYTES}` });
  const blob = contents[0] && 'blob' in contents[0] ? contents[0].blob : '';
  const bytes = Buffer.from(String(blob), 'base64').length;
  if (bytes !== RESOURCE_BYTES) throw new Error(`resources/read: ${bytes} bytes`);
}
