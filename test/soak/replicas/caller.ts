import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { sha256, sha256Url } from '../../helpers/bytes.js';
import { noise } from '../../helpers/sdk-servers-bytes.js';
import { askForUpload, call, expectStatus, postForm, textOf } from '../honest/offers.js';
import { timed } from '../honest/target.js';

const MOST_UPLOAD_BYTES = 400_000;
const DOCUMENT_BYTES = [40_000, 90_000, 200_000, 450_000] as const;

/** What callers were given and promised, and what was refused them. */
export class Promises {
  readonly links: { link: string; digest: string }[] = [];
  readonly uploads: { uri: string; digest: string; owner: string }[] = [];
  readonly refused: { uri: string; owner: string }[] = [];
}

/** One thing that a client does. */
export type Act = (client: Client, promises: Promises, turn: number) => Promise<void>;

export const echo: Act = (client, _, turn) =>
  timed('echo', async () => {
    const message = `message ${turn}`;
    const { content } = await call(client, 'echo', { message });
    if (!JSON.stringify(content).includes(message)) throw new Error(`echo: ${JSON.stringify(content)}`);
  });

export const list: Act = (client) =>
  timed('tools/list', async () => {
    const { tools } = await client.listTools();
    if (tools.length === 0) throw new Error('tools/list: none');
  });

/** A document becomes a link, which is kept and opened once. */
export const document: Act = async (client, promises, turn) => {
  const found = await timed('document', async () => {
    const result = await call(client, 'document', { bytes: DOCUMENT_BYTES[turn % DOCUMENT_BYTES.length] });
    const [file] = (result._meta?.['dev.wharf/files'] ?? []) as { digest: string }[];
    const link = /http\S+\/d\/[\w-]+/.exec(JSON.stringify(result.content))?.[0];
    if (!file || link === undefined) throw new Error(`document: no link in ${JSON.stringify(result).slice(0, 300)}`);
    return { link, digest: file.digest };
  });
  promises.links.push(found);
  await timed('download', () => download(found));
};

export async function download({ link, digest }: { link: string; digest: string }): Promise<void> {
  const response = await fetch(link);
  if (!response.ok) throw new Error(`download: ${response.status} ${(await response.text()).slice(0, 300)}`);
  const got = `sha-256:${sha256Url(Buffer.from(await response.arrayBuffer()))}`;
  if (got !== digest) throw new Error(`download: ${got} instead of ${digest}`);
}

/** A file goes up by a form, and its handle stands for it in a call. */
export const upload =
  (owner: string): Act =>
  async (client, promises, turn) => {
    const bytes = noise(10_000 + ((turn * 7_919) % MOST_UPLOAD_BYTES), turn % 256);
    const place = await timed('ask for an upload', () => askForUpload(client));
    const { uri } = place;
    const digest = sha256(bytes);
    await timed('upload', async () => {
      await expectStatus(await postForm(place, bytes), 201);
    });
    promises.uploads.push({ uri, digest, owner });
    await timed('use a handle', async () => {
      const told = textOf(await call(client, 'digest', { data: uri }));
      if (told !== digest) throw new Error(`the server got other bytes: ${told.slice(0, 300)}`);
    });
  };

/** A file above `limits.file` is refused, and never becomes one. */
export const tooLarge =
  (owner: string, limit: number): Act =>
  async (client, promises) => {
    const place = await timed('ask for an upload', () => askForUpload(client));
    const { uri } = place;
    promises.refused.push({ uri, owner });
    await timed('upload above the limit', async () => {
      await expectStatus(await postForm(place, noise(limit + 1)), 413);
    });
  };
