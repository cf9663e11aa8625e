import { randomBytes } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors.js';
import { countText, timeText } from '../policy/amounts.js';
import type { ObjectStore, ObjectWriter } from '../ports/object-store.js';
import type { Check, Finding } from './check.js';
import type { Open } from './stores.js';

/** SigV4 refuses a request whose time differs by 15 minutes; a presigned URL loses what the clocks differ. */
const MOST_SKEW_MS = 30_000;

/** The shortest life of a presigned URL is a second, which the store's clock rounds. */
const EXPIRY_MS = 2500;

const AS_TEXT = { contentType: 'text/plain', contentDisposition: 'attachment' };

const IF_LATE =
  'Look whether the store runs, at its load, and at what stands between it and Wharf: a firewall that drops packets is silent.';

const CHECK_OBJECTS =
  'Check objects: endpoint, credentials (s3:PutObject, s3:GetObject, s3:DeleteObject) and bucket, or the folder and its rights.';

/** The first check of a store says why, and what to do about it: the advice of a later one would lead elsewhere. */
const UNSTORED: Finding = { state: 'skipped', text: 'not tried, because no file can be stored' };

/** What the checks that need a stored file share. */
interface Tried {
  store: ObjectStore;
  signal: AbortSignal;
  /** What stands in the place of an error that came before a file was stored, if the first check has failed as well. */
  unstored: (error: unknown) => Promise<Finding>;
}

/**
 * @param origins of web pages that may call Wharf, and follow its links
 * @param style `links.style`: with `gateway` only clients that ask for the address of a file themselves get one of the store
 */
export function objectChecks(
  open: Open<ObjectStore>,
  { origins, style }: { origins: readonly string[]; style: 'presigned' | 'gateway' },
): Check[] {
  const isMinor = style === 'gateway';
  let first: Promise<Finding> | undefined;
  const basics = (signal: AbortSignal) => {
    first ??= open().then((store) => storedAndRead(store, signal));
    return first;
  };
  const on = (check: (tried: Tried) => Promise<Finding>) => async (signal: AbortSignal) => {
    const unstored = async (error: unknown) => {
      const isWell = await basics(signal).then(
        () => true,
        () => false,
      );
      if (isWell) throw error;
      return UNSTORED;
    };
    return check({ store: await open(), signal, unstored });
  };
  return [
    {
      group: 'objects',
      ifLate: IF_LATE,
      title: 'store, read and remove',
      todo: CHECK_OBJECTS,
      run: basics,
    },
    {
      group: 'objects',
      ifLate: IF_LATE,
      title: 'list and clear up',
      todo:
        'Let Wharf list the bucket and its unfinished uploads, and abort them (s3:ListBucket, ' +
        's3:ListBucketMultipartUploads, s3:AbortMultipartUpload), or the user write in the folder: otherwise what broke ' +
        'off, and what has expired while Wharf was away, stays for good.',
      run: on(clearedUp),
    },
    {
      group: 'objects',
      ifLate: IF_LATE,
      title: 'uploads that go on',
      todo:
        'Let Wharf list the parts of an upload (s3:ListMultipartUploadParts). Otherwise uploads that come in several requests, ' +
        'as the upload page sends large files, fail, and only those of one request are stored.',
      run: on(goneOn),
    },
    {
      group: 'objects',
      ifLate: IF_LATE,
      title: 'presigned links',
      todo: 'Check objects.publicEndpoint: clients fetch from it. links.style: gateway needs no such links.',
      isMinor,
      run: on(presigned),
    },
    {
      group: 'objects',
      ifLate: IF_LATE,
      title: 'links in web pages',
      todo: "Let the bucket's CORS rules allow GET and HEAD for allowedOrigins, or set links.style: gateway.",
      isMinor,
      run: on((tried) => inPages(tried, origins)),
    },
  ];
}

/** What fails is named: a refusal says neither which right is missing nor what needs it. */
async function storedAndRead(store: ObjectStore, signal: AbortSignal): Promise<Finding> {
  const bytes = randomBytes(1000).toString('hex');
  return withObject<Finding>(store, { bytes, signal }, async (key) => {
    await named('what was stored cannot be read', async () => {
      const read = await store.get(key, { signal });
      if (read.kind !== 'found' || (await textOf(read.body)) !== bytes)
        throw new Error('what was stored is not what is read');
      const part = await store.get(key, { range: { start: 10, end: 19 }, signal });
      if (part.kind !== 'found' || (await textOf(part.body)) !== bytes.slice(10, 20))
        throw new Error('a range of it is not what was asked for');
    });
    await named('what was stored cannot be removed', () => store.remove(key));
    if (await store.head(key)) throw new Error('it is still there after it was removed');
    return { state: 'ok', text: `${store.name}: 2000 bytes, a range of them, and none after their removal` };
  });
}

/** Says which step an error of the store is of. */
async function named<T>(what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    // every other one is in the doctor's own words, or in those of a bucket that was asked for
    throw error instanceof GatewayError ? new Error(`${what}.`, { cause: error }) : error;
  }
}

/** What the sweep does, without removing what belongs to others. */
function clearedUp({ store, signal, unstored }: Tried): Promise<Finding> {
  const stem = newKey();
  // in the order of S3, B is before a: not so in that of words, nor in the one in which the two are stored
  const [first, second] = [`${stem}B`, `${stem}a`] as const;
  return withObject<Finding>(store, { key: second, bytes: 'doctor', signal, unstored }, async (key) => {
    const list = () => store.keysAfter(stem, stem, 2);
    const found = await withObject(store, { key: first, bytes: 'doctor', signal }, list);
    if (found.length !== 2) throw new Error('what was stored is not in its list');
    if (found[0] !== first || found[1] !== second)
      throw new Error('it lists files in another order than that of their names');
    // nothing was begun before the Unix epoch
    await store.removeUnfinished(0, signal);
    const writer = await store.create(`${key}-b`, signal);
    await writer.write(Buffer.alloc(store.partSize)).finally(() => writer.abort());
    if (await store.head(`${key}-b`)) throw new Error('an upload that was broken off is there');
    return { state: 'ok', text: `${store.name}: files are listed, and nothing stays of an upload that breaks off` };
  });
}

/** What a large upload of several requests does, each of which may reach another replica. */
async function goneOn({ store, signal, unstored }: Tried): Promise<Finding> {
  const { name, partSize, resumable } = store;
  if (!resumable) return { state: 'skipped', text: `${name}: each upload is one request` };
  return withObject<Finding>(store, { bytes: 'doctor', signal, unstored }, async (stored) => {
    const key = `${stored}-c`;
    const writer = await resumable.begin(key, signal);
    let place: string | undefined;
    try {
      await writer.write(Buffer.alloc(partSize));
      place = await writer.save(Buffer.from('doctor'));
      await writer.close();
      const resumed = await resumable.resume(key, place, signal);
      if (!resumed) throw new Error('what was stored of an upload is not found when it goes on');
      await resumed.writer.close();
    } finally {
      await (place === undefined ? writer.abort() : resumable.discard(key, place)).catch(() => {});
    }
    return { state: 'ok', text: `${name}: they go on where they broke off` };
  });
}

/** Web pages that call Wharf read files by script, which the store must allow. Uploads never go to the store. */
async function inPages({ store, signal, unstored }: Tried, origins: readonly string[]): Promise<Finding> {
  if (!store.presign) return { state: 'skipped', text: `${store.name} has no links of its own` };
  if (origins.length === 0) return { state: 'skipped', text: 'no page may call Wharf (allowedOrigins)' };
  return withObject<Finding>(store, { bytes: 'doctor', signal, unstored }, async (key) => {
    const link = (await store.presign?.(key, { ttlSeconds: 60, ...AS_TEXT })) as string;
    for (const origin of origins) {
      const answer = await fetch(link, { headers: { origin }, signal });
      await answer.body?.cancel();
      const allowed = answer.headers.get('access-control-allow-origin');
      if (allowed !== '*' && allowed !== origin)
        throw new Error(`${new URL(link).host} does not let pages of ${origin} read its files`);
    }
    return { state: 'ok', text: `${countText(origins.length, 'origin')} may read them` };
  });
}

/** Fetches a presigned link as a client does, altered, and after its end. */
async function presigned({ store, signal, unstored }: Tried): Promise<Finding> {
  if (!store.presign) return { state: 'skipped', text: `${store.name} has none; clients fetch files from Wharf` };
  const bytes = randomBytes(100).toString('hex');
  return withObject<Finding>(store, { bytes, signal, unstored }, async (key) => {
    const [link, short] = await Promise.all(
      [60, 1].map((ttlSeconds) => store.presign?.(key, { ttlSeconds, ...AS_TEXT }) as Promise<string>),
    );
    const answer = await fetch(link as string, { signal });
    const { host } = new URL(link as string);
    const text = await answer.text();
    if (answer.status !== 200 || text !== bytes) throw new Error(`${host} answers a link with HTTP ${answer.status}`);
    const forged = await fetch(
      (link as string).replace(/(Signature=.)./, (_, kept) => `${kept}_`),
      { signal },
    );
    await forged.body?.cancel();
    if (forged.ok) return unguarded(`${host} accepts a link with a wrong signature`);
    await sleep(EXPIRY_MS, undefined, { signal });
    const late = await fetch(short as string, { signal });
    await late.body?.cancel();
    if (late.ok) return unguarded(`${host} accepts a link that has expired`);
    const skewed = skewOf(answer.headers.get('date'), host);
    return skewed.state === 'ok' && !isDressed(answer) ? undressed(host) : skewed;
  });
}

/** Objects have neither a name nor a type; a link asks the store for both. */
function isDressed({ headers }: Response): boolean {
  const isOfType = headers.get('content-type')?.startsWith(AS_TEXT.contentType) === true;
  return isOfType && headers.get('content-disposition') === AS_TEXT.contentDisposition;
}

/** A store for tests, for example, which checks nothing. */
function unguarded(text: string): Finding {
  const todo =
    'A client that knows one link can read files there without a right to: let no client reach it and set links.style: gateway, or take ' +
    'a store that checks links.';
  return { state: 'failed', text, todo };
}

function undressed(host: string): Finding {
  const todo =
    'Set links.style: gateway, whose links give both, or let what stands before the store keep the query of a link.';
  return { state: 'warning', text: `${host} serves them without the names and types of files`, todo };
}

function skewOf(date: string | null, host: string): Finding {
  const text = `${host} serves them, and refuses those that are forged or have expired`;
  const skew = date === null ? 0 : Math.abs(Date.now() - Date.parse(date));
  if (!(skew > MOST_SKEW_MS)) return { state: 'ok', text };
  const todo = 'Set both clocks by NTP: links live shorter or longer than links.ttl, and from 15 min on none work.';
  return { state: 'warning', text: `the clock of ${host} differs by ${timeText(skew)}`, todo };
}

/** One among the files, where the sweep of a gateway removes it if this process is killed. */
function newKey(): string {
  return `f/doctor-${randomBytes(12).toString('hex')}`;
}

/**
 * @param unstored makes the result where no file can be stored; left out, the error is thrown
 */
async function withObject<T>(
  store: ObjectStore,
  {
    key = newKey(),
    bytes,
    signal,
    unstored,
  }: { key?: string; bytes: string; signal: AbortSignal; unstored?: (error: unknown) => Promise<T> },
  use: (key: string) => Promise<T>,
): Promise<T> {
  let writer: ObjectWriter | undefined;
  try {
    try {
      await store.prepare();
      writer = await named('no file can be stored', () => stored(store, { key, bytes, signal }));
    } catch (error) {
      if (!unstored) throw error;
      return await unstored(error);
    }
    return await use(key);
  } finally {
    if (writer) await store.remove(key).catch(() => {});
  }
}

async function stored(
  store: ObjectStore,
  { key, bytes, signal }: { key: string; bytes: string; signal: AbortSignal },
): Promise<ObjectWriter> {
  const writer = await store.create(key, signal);
  try {
    await writer.writeLast(Buffer.from(bytes));
    await writer.commit();
    return writer;
  } catch (error) {
    await writer.abort().catch(() => {});
    throw error;
  }
}
