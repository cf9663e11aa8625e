import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import { until } from '../../../helpers/wait.js';
import { createLab, FILE_LIMIT, HELLO, HELLO_DIGEST, HOUR, type Lab, RETENTION, TTL } from './upload-lab.js';

let lab: Lab;

beforeEach(() => {
  lab = createLab();
});

const refusal = (code: string, facts: Record<string, unknown> = {}) =>
  expect.objectContaining({ code, facts: expect.objectContaining(facts) });

async function* failing(...pieces: Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
  throw new GatewayError('upload_incomplete', { reason: 'uploadIncomplete' });
}

describe('an authorization', () => {
  it('names the handle to come, a link with 256 random bits, and when that ends', async () => {
    const { id, uri, ticket, url, expiresAt } = await lab.authorize();
    expect(id).toMatch(/^f_[\w-]{22}$/);
    expect(uri).toBe(`mcp-file://wharf/${id}`);
    expect(Buffer.from(ticket, 'base64url')).toHaveLength(32);
    expect(url).toBe(`http://gw.example/u/${ticket}`);
    expect(Date.parse(expiresAt)).toBe(lab.time.now + TTL);
  });

  it('keeps the ticket itself out of the state store', async () => {
    const seen: string[] = [];
    lab = createLab({
      state: (real) => ({
        ...real,
        create: (key, value, ttlMs) => {
          seen.push(key, value);
          return real.create(key, value, ttlMs);
        },
      }),
    });
    const { ticket } = await lab.authorize({ name: 'a.txt' });
    expect(seen.some((text) => text.startsWith('ticket:'))).toBe(true);
    expect(seen.join()).not.toContain(ticket);
  });

  it('is refused for a size over limits.file, with limit and actual value (2631-57)', async () => {
    await expect(lab.authorize({ size: FILE_LIMIT + 1 })).rejects.toEqual(
      refusal('upload_too_large', {
        reason: 'maxSizeExceeded',
        limit: 'limits.file',
        allowed: FILE_LIMIT,
        actual: FILE_LIMIT + 1,
      }),
    );
    await expect(lab.authorize({ size: 13, maxSize: 12 })).rejects.toEqual(
      refusal('upload_too_large', { limit: 'maxSize', allowed: 12, actual: 13 }),
    );
    await lab.authorize({ size: FILE_LIMIT, maxSize: FILE_LIMIT * 2 });
  });

  it.each([
    ['invalidSize', { size: -1 }],
    ['invalidSize', { size: 1.5 }],
    ['invalidMimeType', { mimeType: 'x' }],
    ['invalidDigest', { digest: `${HELLO_DIGEST}=` }],
    ['invalidDigest', { digest: Buffer.from(HELLO_DIGEST, 'base64url').toString('hex') }],
    ['invalidDigest', { digest: `${HELLO_DIGEST.slice(0, -1)}p` }],
    ['invalidName', { name: 'n'.repeat(2000) }],
    ['invalidAccept', { accept: Array.from({ length: 200 }, () => 'image/png') }],
    ['invalidAccept', { accept: [`image/${'x'.repeat(4_000_000)}`] }],
  ])('is refused with %s for %p (2631-20, 2631-27)', async (reason, intent) => {
    await expect(lab.authorize(intent)).rejects.toEqual(refusal('upload_invalid', { reason }));
  });

  it.each([
    { mimeType: 'image/gif', accept: ['image/png', 'image/jpeg'] },
    { mimeType: 'application/pdf', accept: ['image/*'], name: 'a.png' },
    { mimeType: 'text/plain', accept: ['text/csv'], name: 'a.txt' },
  ])('is refused for a type under which no file would be accepted: %j', async (intent) => {
    await expect(lab.authorize(intent)).rejects.toEqual(refusal('upload_type_refused'));
  });

  it.each([
    { mimeType: 'image/x-png', accept: ['image/png'] },
    { mimeType: 'text/plain', accept: ['text/csv'] },
    { mimeType: 'text/plain', accept: ['text/csv'], name: 'a.csv' },
    { mimeType: 'application/octet-stream', accept: ['image/png'] },
    { mimeType: 'application/pdf', accept: ['.pdf'] },
  ])('is given for a type under which one would: %j', async (intent) => {
    await lab.authorize(intent);
  });
});

describe('an upload', () => {
  it('becomes the file that was announced under its handle, and stays it (2631-05)', async () => {
    const { id, uri, ticket } = await lab.authorize({
      name: 'hello.txt',
      mimeType: 'text/plain',
      size: 12,
      digest: HELLO_DIGEST,
    });
    const record = await lab.send(ticket, HELLO);
    expect(record).toMatchObject({ id, principal: 'ann', name: 'hello.txt', mimeType: 'text/plain', size: 12 });
    expect(lab.library.describe(record)).toEqual({
      uri,
      name: 'hello.txt',
      mimeType: 'text/plain',
      size: 12,
      digest: HELLO_DIGEST,
    });
    expect(await lab.bytesOf(record.key)).toEqual(HELLO);
    expect(lab.watched).toEqual([record.key]);
    await expect(lab.send(ticket, Buffer.from('other'))).rejects.toEqual(refusal('upload_done'));
    expect(await lab.keys()).toEqual([record.key]);
  });

  it('of the same bytes twice is two files', async () => {
    const [one, two] = [await lab.authorize(), await lab.authorize()];
    const records = [await lab.send(one.ticket, HELLO), await lab.send(two.ticket, HELLO)];
    expect(records.map(({ id }) => id)).toEqual([one.id, two.id]);
    expect(await lab.keys()).toHaveLength(2);
  });

  it('may be empty, and may be larger than a part', async () => {
    const empty = await lab.authorize({ size: 0 });
    expect(await lab.send(empty.ticket, Buffer.alloc(0))).toMatchObject({ size: 0 });
    const large = await lab.authorize();
    const bytes = Buffer.alloc(2_500_001, 'abcdefg');
    const record = await lab.send(large.ticket, bytes);
    expect((await lab.bytesOf(record.key)).equals(bytes)).toBe(true);
    expect(lab.budget.used).toBe(0);
  });

  const attempts: [string, Record<string, unknown>, Buffer | AsyncIterable<Buffer>, string, Record<string, unknown>][] =
    [
      [
        'other bytes (2631-36)',
        { digest: HELLO_DIGEST },
        Buffer.from('Hello World!'),
        'upload_digest_differs',
        { reason: 'digestMismatch' },
      ],
      [
        'short (2631-37)',
        { size: 12 },
        Buffer.from('Hello'),
        'upload_size_differs',
        { reason: 'sizeMismatch', actual: 5 },
      ],
      ['long (2631-37)', { size: 5 }, HELLO, 'upload_size_differs', { reason: 'sizeMismatch', actual: 12 }],
      ['larger than its slot', { maxSize: 11 }, HELLO, 'upload_too_large', { limit: 'maxSize', allowed: 11 }],
      ['larger than limits.file', {}, Buffer.alloc(FILE_LIMIT + 1), 'upload_too_large', { limit: 'limits.file' }],
      ['of another type', { accept: ['image/png'] }, HELLO, 'upload_type_refused', { reason: 'mimeTypeNotAccepted' }],
      ['cut off', {}, failing(HELLO), 'upload_incomplete', {}],
      ['cut off in a later part', {}, failing(Buffer.alloc(2_000_000)), 'upload_incomplete', {}],
    ];
  it.each(attempts)(
    '%s: stores nothing when it fails, and may be tried again',
    async (_what, intent, bytes, code, facts) => {
      const { ticket, uri } = await lab.authorize(intent);
      await expect(lab.send(ticket, bytes)).rejects.toEqual(refusal(code, facts));
      expect(await lab.keys()).toEqual([]);
      expect(await lab.objects.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0);
      expect(lab.budget.used).toBe(0);
      expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'pending' });
      expect(await lab.uploadLinks.inspect(ticket)).toMatchObject({ kind: 'open' });
    },
  );

  it('stops taking bytes as soon as there are too many', async () => {
    let taken = 0;
    const endless = async function* () {
      for (;;) {
        taken += 1;
        yield Buffer.alloc(1000);
      }
    };
    const { ticket } = await lab.authorize({ maxSize: 10_000 });
    await expect(lab.send(ticket, endless())).rejects.toEqual(refusal('upload_too_large'));
    expect(taken).toBe(11);
  });

  it('is named by the ticket, else by the body, else after its type', async () => {
    const named = async (intent: object, claims: object) =>
      (await lab.send((await lab.authorize(intent)).ticket, HELLO, claims)).name;
    expect(await named({ name: '../../etc/passwd' }, { name: 'b.txt' })).toBe('passwd');
    expect(await named({}, { name: 'C:\\docs\\b.txt' })).toBe('b.txt');
    expect(await named({ mimeType: 'text/plain' }, {})).toBe('upload-1.txt');
  });

  it('410: is refused once its ticket has expired, and 404 when that is forgotten', async () => {
    const { ticket } = await lab.authorize();
    lab.time.now += TTL;
    await expect(lab.uploadLinks.admit(ticket)).rejects.toEqual(refusal('link_expired'));
    lab.time.now += HOUR;
    await expect(lab.uploadLinks.admit(ticket)).rejects.toEqual(refusal('link_unknown'));
    await expect(lab.uploadLinks.admit('x'.repeat(43))).rejects.toEqual(refusal('link_unknown'));
    await expect(lab.uploadLinks.admit('x')).rejects.toEqual(refusal('link_unknown'));
  });

  it('may end after its ticket, once it has begun', async () => {
    const { ticket } = await lab.authorize();
    const slow = async function* () {
      yield HELLO;
      lab.time.now += TTL;
    };
    expect(await lab.send(ticket, slow())).toMatchObject({ size: 12 });
  });

  it('stores no second file under a handle, even after the life of the first', async () => {
    const { ticket } = await lab.authorize();
    const outlasting = async function* () {
      yield Buffer.from('late');
      await lab.send(ticket, HELLO);
      lab.time.now += RETENTION;
    };
    await expect(lab.send(ticket, outlasting())).rejects.toEqual(refusal('link_expired'));
    expect(await lab.keys()).toHaveLength(1);
  });

  it('takes a download’s ticket for none, and a download an upload’s', async () => {
    const { ticket } = await lab.authorize();
    const record = await lab.send(ticket, HELLO);
    const { url } = await lab.library.refer(record);
    await expect(lab.uploadLinks.admit(url.slice(url.lastIndexOf('/') + 1))).rejects.toEqual(refusal('link_unknown'));
  });
});

describe('a ticket that is revoked', () => {
  it('takes no more files, and says so', async () => {
    const { ticket } = await lab.authorize();
    await lab.uploadLinks.revoke(ticket);
    await lab.uploadLinks.revoke(ticket);
    expect(await lab.uploadLinks.inspect(ticket)).toEqual({ kind: 'cancelled' });
    await expect(lab.send(ticket, HELLO)).rejects.toEqual(refusal('upload_cancelled'));
    expect(await lab.keys()).toEqual([]);
    lab.time.now += TTL + 1000;
    expect(await lab.uploadLinks.inspect(ticket)).toEqual({ kind: 'cancelled' });
  });

  it('has no file of an upload that is under way, and its handle is as good as expired', async () => {
    const { ticket, uri } = await lab.authorize();
    const revoking = async function* () {
      yield HELLO;
      await lab.uploadLinks.revoke(ticket);
    };
    await expect(lab.send(ticket, revoking())).rejects.toEqual(refusal('upload_cancelled'));
    await until(async () => (await lab.keys()).length === 0);
    expect(await lab.uploadLinks.inspect(ticket)).toEqual({ kind: 'cancelled' });
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'expired' });
  });

  it('whose file has been stored still says that one has', async () => {
    const { ticket } = await lab.authorize();
    await lab.send(ticket, HELLO);
    await lab.uploadLinks.revoke(ticket);
    expect(await lab.uploadLinks.inspect(ticket)).toEqual({ kind: 'done' });
  });

  it('is one there is, and one for an upload', async () => {
    await lab.uploadLinks.revoke('no ticket');
    await lab.uploadLinks.revoke('A'.repeat(43));
    const record = await lab.send((await lab.authorize()).ticket, HELLO);
    const { url } = await lab.library.refer(record);
    await lab.uploadLinks.revoke(url.slice(url.lastIndexOf('/') + 1));
    expect((await lab.tickets.redeemDownload(url.slice(url.lastIndexOf('/') + 1))).kind).toBe('ok');
  });
});

describe('tries at one time', () => {
  it.each([2, 5, 20])('%i of them store one file', async (count) => {
    const { ticket, uri } = await lab.authorize();
    const outcomes = await Promise.allSettled(
      Array.from({ length: count }, (_, n) => lab.send(ticket, Buffer.from(`try ${n}`))),
    );
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(['upload_done', 'upload_busy']).toContain(outcome.reason.code);
    const resolved = await lab.library.resolve(uri, 'ann');
    expect(resolved).toMatchObject({ kind: 'ready' });
    expect(await lab.keys()).toHaveLength(1);
  });

  it('are four at most, and an ended one makes room for the next', async () => {
    const { ticket } = await lab.authorize();
    const stops: (() => void)[] = [];
    const dripping = async function* () {
      yield Buffer.from('x');
      await new Promise<void>((resolve) => stops.push(resolve));
      throw new Error('broken off');
    };
    const tries = Array.from({ length: 4 }, () => lab.send(ticket, dripping()).catch(() => 'ended'));
    await expect(lab.send(ticket, HELLO)).rejects.toMatchObject({ code: 'upload_busy', httpStatus: 429 });
    while (stops.length < 4) await new Promise(setImmediate);
    for (const stop of stops) stop();
    expect(await Promise.all(tries)).toEqual(['ended', 'ended', 'ended', 'ended']);
    await lab.send(ticket, HELLO);
  });

  it('that both got as far as the store: the second one to make its record removes its object', async () => {
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    let committed = 0;
    lab = createLab({
      objects: (real) => ({
        ...real,
        create: async (key, signal) => {
          const writer = await real.create(key, signal);
          const commit = async () => {
            const mark = await writer.commit();
            committed += 1;
            if (committed === 2) release();
            await both;
            return mark;
          };
          return {
            write: (part) => writer.write(part),
            writeLast: (part) => writer.writeLast(part),
            commit,
            abort: () => writer.abort(),
          };
        },
      }),
    });
    const { ticket, id } = await lab.authorize();
    const outcomes = await Promise.allSettled([lab.send(ticket, HELLO), lab.send(ticket, HELLO)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await lab.keys()).toEqual([(await lab.library.find(id))?.key]);
  });
});

describe('a state store that fails while the record is made', () => {
  const withFailing = (happens: boolean) => {
    let fails = true;
    return createLab({
      state: (real) => ({
        ...real,
        create: async (key, value, ttlMs) => {
          if (!key.startsWith('file:') || !fails) return real.create(key, value, ttlMs);
          fails = false;
          if (happens) await real.create(key, value, ttlMs);
          throw new GatewayError('state_unavailable');
        },
      }),
    });
  };

  it('and has made it: the file is stored', async () => {
    lab = withFailing(true);
    const { ticket, uri } = await lab.authorize();
    const record = await lab.send(ticket, HELLO);
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'ready', record });
  });

  it('and has not: it may be tried again, and the object is the sweeper’s', async () => {
    lab = withFailing(false);
    const { ticket, uri } = await lab.authorize();
    await expect(lab.send(ticket, HELLO)).rejects.toEqual(refusal('state_unavailable'));
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'pending' });
    await lab.send(ticket, HELLO);
    expect(await lab.library.resolve(uri, 'ann')).toMatchObject({ kind: 'ready' });
    expect(await lab.keys()).toHaveLength(2);
  });
});
