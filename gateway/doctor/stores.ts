import { randomBytes } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors.js';
import { countText, sizeText, timeText } from '../policy/amounts.js';
import type { Antivirus, Scanner, Verdict } from '../ports/antivirus.js';
import type { ObjectStore, ObjectWriter } from '../ports/object-store.js';
import type { AboutStore, StateStore } from '../ports/state-store.js';
import type { Check, Finding } from './check.js';

/** SigV4 refuses a request whose time differs by 15 minutes; a presigned URL loses what the clocks differ. */
const MOST_SKEW_MS = 30_000;

/** The shortest life of a presigned URL is a second, which the store's clock rounds. */
const EXPIRY_MS = 2500;

const AS_TEXT = { contentType: 'text/plain', contentDisposition: 'attachment' };

/** The test file of all scanners, in two pieces so that none finds it here. */
const HARMLESS = 'The doctor of Wharf has written this file, which harms no machine.';
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'];

const CHECK_OBJECTS = 'Check objects: endpoint, credentials and bucket, or the folder and its rights.';

/** The first check of a store says why, and what to do about it: the advice of a later one would lead elsewhere. */
const UNSTORED: Finding = { state: 'skipped', text: 'not tried, because no file can be stored' };
const UNREAD: Finding = { state: 'skipped', text: 'not tried, because the store does not answer' };

/** Opens a part when its first check needs it. */
export type Open<Part> = () => Promise<Part>;

/** @param origins of web pages that may call Wharf, and follow its links */
export function objectChecks(open: Open<ObjectStore>, origins: readonly string[]): Check[] {
  return [
    {
      group: 'objects',
      title: 'store, read and remove',
      todo: CHECK_OBJECTS,
      run: async (signal) => {
        const store = await open();
        const bytes = randomBytes(1000).toString('hex');
        return withObject(store, { bytes, signal }, async (key) => {
          const read = await store.get(key, { signal });
          if (read.kind !== 'found' || (await textOf(read.body)) !== bytes)
            throw new Error('what was stored is not what is read');
          const part = await store.get(key, { range: { start: 10, end: 19 }, signal });
          if (part.kind !== 'found' || (await textOf(part.body)) !== bytes.slice(10, 20))
            throw new Error('a range of it is not what was asked for');
          await store.remove(key);
          if (await store.head(key)) throw new Error('it is still there after it was removed');
          return { state: 'ok', text: `${store.name}: 2000 bytes, a range of them, and none after their removal` };
        });
      },
    },
    {
      group: 'objects',
      title: 'list and clear up',
      todo:
        'Let Wharf list the bucket and its unfinished uploads, and abort them (s3:ListBucket, ' +
        's3:ListBucketMultipartUploads, s3:AbortMultipartUpload), or the user write in the folder: otherwise what broke ' +
        'off, and what has expired while Wharf was away, stays for good.',
      run: async (signal) => clearedUp(await open(), signal),
    },
    {
      group: 'objects',
      title: 'presigned links',
      todo: 'Check objects.publicEndpoint: clients fetch from it. links.style: gateway needs no such links.',
      run: async (signal) => presigned(await open(), signal),
    },
    {
      group: 'objects',
      title: 'links in web pages',
      todo: "Let the bucket's CORS rules allow GET and HEAD for allowedOrigins, or set links.style: gateway.",
      run: async (signal) => inPages(await open(), origins, signal),
    },
  ];
}

/** What the sweep does, without removing what belongs to others. */
function clearedUp(store: ObjectStore, signal: AbortSignal): Promise<Finding> {
  return withObject(store, { bytes: 'doctor', signal, unstored: UNSTORED }, async (key) => {
    const [found] = await store.keysAfter(key.slice(0, -1), key.slice(0, -1), 1);
    if (found !== key) throw new Error('what was stored is not in its list');
    // nothing was begun before the Unix epoch
    await store.removeUnfinished(0, signal);
    const writer = await store.create(`${key}-b`, signal);
    await writer.write(Buffer.alloc(store.partSize), false).finally(() => writer.abort());
    if (await store.head(`${key}-b`)) throw new Error('an upload that was broken off is there');
    return { state: 'ok', text: `${store.name}: files are listed, and nothing stays of an upload that breaks off` };
  });
}

/** Web pages that call Wharf read files by script, which the store must allow. Uploads never go to the store. */
async function inPages(store: ObjectStore, origins: readonly string[], signal: AbortSignal): Promise<Finding> {
  if (!store.presign) return { state: 'skipped', text: `${store.name} has no links of its own` };
  if (origins.length === 0) return { state: 'skipped', text: 'no page may call Wharf (allowedOrigins)' };
  return withObject(store, { bytes: 'doctor', signal, unstored: UNSTORED }, async (key) => {
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
async function presigned(store: ObjectStore, signal: AbortSignal): Promise<Finding> {
  if (!store.presign) return { state: 'skipped', text: `${store.name} has none; clients fetch files from Wharf` };
  const bytes = randomBytes(100).toString('hex');
  return withObject(store, { bytes, signal, unstored: UNSTORED }, async (key) => {
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
    if (forged.ok) throw new Error(`${host} accepts a link with a wrong signature`);
    await sleep(EXPIRY_MS, undefined, { signal });
    const late = await fetch(short as string, { signal });
    await late.body?.cancel();
    if (late.ok) throw new Error(`${host} accepts a link that has expired`);
    return skewOf(answer.headers.get('date'), host);
  });
}

function skewOf(date: string | null, host: string): Finding {
  const text = `${host} serves them, and refuses those that are forged or have expired`;
  const skew = date === null ? 0 : Math.abs(Date.now() - Date.parse(date));
  if (!(skew > MOST_SKEW_MS)) return { state: 'ok', text };
  const todo = 'Set both clocks by NTP: links live shorter or longer than links.ttl, and from 15 min on none work.';
  return { state: 'warning', text: `the clock of ${host} differs by ${timeText(skew)}`, todo };
}

/** @param unstored the finding where no file can be stored; left out, its error */
async function withObject(
  store: ObjectStore,
  { bytes, signal, unstored }: { bytes: string; signal: AbortSignal; unstored?: Finding },
  use: (key: string) => Promise<Finding>,
): Promise<Finding> {
  // among the files, where the sweep of a gateway removes it if this process is killed
  const key = `f/doctor-${randomBytes(12).toString('hex')}`;
  let writer: ObjectWriter | undefined;
  try {
    try {
      await store.prepare();
      writer = await store.create(key, signal);
      await writer.write(Buffer.from(bytes), true);
      await writer.commit();
    } catch (error) {
      if (unstored === undefined) throw error;
      return unstored;
    }
    return await use(key);
  } finally {
    await writer?.abort().catch(() => {});
    if (writer) await store.remove(key).catch(() => {});
  }
}

/**
 * The time of the quickest of a few steps: the others have waited for checks that run at the same time. The very first one is
 * not among them, because it has connected.
 */
class Stopwatch {
  #least = Number.POSITIVE_INFINITY;

  /** At least 0.1 ms. */
  get least(): number {
    return Math.max(this.#least, 0.1);
  }

  async time<T>(step: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await step;
    this.#least = Math.min(this.#least, performance.now() - startedAt);
    return result;
  }
}

function answers(store: StateStore): Promise<boolean> {
  const key = `doctor:${randomBytes(12).toString('hex')}`;
  return store.read(key).then(
    () => true,
    () => false,
  );
}

/** @param countsCallers whether the config limits what callers use over time */
export function stateChecks(open: Open<StateStore>, countsCallers: boolean): Check[] {
  return [
    {
      group: 'state',
      title: 'create, read, expire and remove',
      todo:
        'Check state.url: rediss:// for a Redis with TLS, redis:// for one without, and one Redis that has all keys, which a ' +
        'part of a Redis Cluster has not. The Redis user needs the rights that STORAGE.md lists.',
      run: async () => {
        const store = await open();
        const key = `doctor:${randomBytes(12).toString('hex')}`;
        if (!(await store.create(key, '1', 10_000))) throw new Error('a new key is said to exist');
        const steps = new Stopwatch();
        if (await steps.time(store.create(key, '2', 10_000))) throw new Error('a key was created twice');
        if (!(await steps.time(store.replace(key, '1', '3', 10_000)))) throw new Error('a key could not be replaced');
        if (!(await steps.time(store.extend(key, 20_000)))) throw new Error('the time of a key could not be extended');
        if ((await steps.time(store.take(key))) !== '3') throw new Error('what was written is not what is read');
        await store.create(key, '4', 50);
        await sleep(200);
        if ((await store.read(key)) !== undefined) throw new Error('a key has outlived its time');
        await store.remove(key);
        await store.check();
        return { state: 'ok', text: `${store.name}: each step is atomic, and takes ${timeText(steps.least)}` };
      },
    },
    {
      group: 'state',
      title: 'what callers have used',
      todo: 'Check state.url, and the rights of the Redis user.',
      run: async () => {
        if (!countsCallers) return { state: 'skipped', text: 'nothing of callers is limited over time' };
        const store = await open();
        const key = `doctor:${randomBytes(12).toString('hex')}`;
        const count = () => store.tally(key, [{ part: 'one', by: 1, ttlMs: 10_000 }], 1);
        const counted = [await count(), await count()].map(({ isWithin }) => isWithin);
        await store.remove(key);
        if (counted[0] !== true || counted[1] !== false)
          throw new Error('one of one fits, and two of one do not: it says otherwise');
        return { state: 'ok', text: `${store.name}: it is counted, and refused beyond its limit` };
      },
    },
    {
      group: 'state',
      title: 'rights',
      todo: 'Give them to the Redis user; STORAGE.md lists all.',
      run: async () => rightsOf(await open(), countsCallers),
    },
    {
      group: 'state',
      title: 'settings',
      todo: 'Let the Redis user run INFO and TIME, or check maxmemory-policy, appendonly and the clock there yourself.',
      run: async () => {
        const store = await open();
        if (!store.about) return { state: 'skipped', text: `${store.name}: it ends with the process` };
        try {
          return settingsOf(await store.about());
        } catch (error) {
          // another error says what the store is
          if (!(error instanceof GatewayError) || (await answers(store))) throw error;
          return UNREAD;
        }
      },
    },
  ];
}

async function rightsOf(store: StateStore, countsCallers: boolean): Promise<Finding> {
  if (!store.lackedRights) return { state: 'skipped', text: `${store.name}: it has no users` };
  // the first check says why it cannot be asked
  const lacked = await store.lackedRights(countsCallers).catch(() => undefined);
  if (!lacked) return UNREAD;
  if (lacked.length === 0) return { state: 'ok', text: `${store.name}: its user has them all` };
  const todo = `Give them to that user, and keep them in its users' file: ACL SETUSER NAME ${lacked.join(' ')}`;
  return { state: 'failed', text: `${store.name}: its user lacks ${lacked.join(', ')}`, todo };
}

/** Every key of Wharf has a time to live. So each policy but `noeviction` removes keys, also those called `volatile-*`. */
function settingsOf({ version, evicts, maxMemory, isLasting, now }: AboutStore): Finding {
  const skew = Math.abs(Date.now() - now);
  const memory = maxMemory === undefined ? 'no maxmemory' : `maxmemory ${sizeText(maxMemory)}`;
  if (evicts !== undefined) {
    const text = `${version}, ${memory}: maxmemory-policy is ${evicts}, and an evicted key is a lost file`;
    const todo = 'Set maxmemory-policy to noeviction: CONFIG SET maxmemory-policy noeviction.';
    return { state: maxMemory === undefined ? 'warning' : 'failed', text, todo };
  }
  if (skew > MOST_SKEW_MS) {
    const todo = 'Set both clocks by NTP.';
    return { state: 'warning', text: `${version}: its clock differs by ${timeText(skew)}`, todo };
  }
  if (!isLasting) {
    const todo = 'Set appendonly to yes, unless sessions and files may end with Redis: CONFIG SET appendonly yes.';
    return {
      state: 'warning',
      text: `${version}, noeviction, ${memory}; what it last wrote is lost when it restarts`,
      todo,
    };
  }
  return { state: 'ok', text: `${version}, noeviction, appendonly, ${memory}` };
}

export function antivirusChecks(open: Open<Antivirus>): Check[] {
  return [
    {
      group: 'antivirus',
      title: 'EICAR test file',
      todo: 'Check antivirus.host and port, and that the signatures of clamd are loaded (freshclam).',
      run: async (signal) => {
        const { scanner, name } = await open();
        if (!scanner) return { state: 'skipped', text: `${name}: files are not scanned` };
        await scanner.check();
        const verdict = await verdictOn(scanner, EICAR.join(''), signal);
        if (verdict.kind !== 'infected') throw new Error(`${name} calls the test file ${verdict.kind}`);
        const other = await verdictOn(scanner, HARMLESS, signal);
        if (other.kind !== 'clean') throw new Error(`${name} calls a harmless file ${other.kind}`);
        return { state: 'ok', text: `${name} finds it (${verdict.signature}), and a harmless file clean` };
      },
    },
  ];
}

async function verdictOn(scanner: Scanner, text: string, signal: AbortSignal): Promise<Verdict> {
  const scan = await scanner.begin(signal);
  try {
    await scan.write(Buffer.from(text));
    return await scan.end();
  } finally {
    scan.abort();
  }
}
