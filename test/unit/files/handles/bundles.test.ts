import { describe, expect, it } from '@jest/globals';
import { isUnderWay } from '../../../../gateway/files/tickets/progress.js';
import type { UploadBody } from '../../../../gateway/files/uploads/upload.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { until } from '../../../helpers/wait.js';
import { createLab, HOUR, type Lab, type LabOptions, NEVER, RETENTION, TTL } from '../uploads/upload-lab.js';

const several = { least: 2, most: 3 };

async function begin(options: LabOptions = {}, counts: { least: number; most: number } = several) {
  const lab = createLab(options);
  const link = await lab.authorize({ several: counts });
  const add = async () => lab.several.add(link.ticket, await lab.uploadLinks.admit(link.ticket));
  /** One more file, stored at its own place. */
  const put = async (text: string) => {
    const place = await add();
    await lab.send(place.ticket, Buffer.from(text));
    return place.id;
  };
  const sendAll = async (...texts: string[]) =>
    lab.uploads.receiveAll(await lab.uploadLinks.admit(link.ticket), bodiesOf(texts), NEVER);
  const given = async () => (await lab.uploadLinks.given(link.id))?.map(({ id }) => id);
  const resolved = (principal = 'ann') => lab.library.bundles.resolve(link.uri, principal);
  const state = async () => (await lab.uploadLinks.inspect(link.ticket)).kind;
  return { lab, link, add, put, sendAll, given, resolved, state, finish: finisher(lab, link.ticket) };
}

const finisher =
  (lab: Lab, ticket: string) =>
  async (...order: string[]) =>
    (await lab.several.finish(ticket, order)).map(({ id }) => id);

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function* bodiesOf(texts: readonly string[]): AsyncGenerator<UploadBody> {
  async function* bytes(text: string) {
    yield Buffer.from(text);
  }
  for (const text of texts) yield { bytes: bytes(text), claims: () => ({}) };
}

const reason = (reason: string) => expect.objectContaining({ facts: expect.objectContaining({ reason }) });
const code = (code: string) => expect.objectContaining({ code });

describe('a link for several files', () => {
  it('gives those that are named, in their order, and removes the rest', async () => {
    const { lab, link, put, finish, given, resolved } = await begin();
    const [one, two, three] = [await put('1'), await put('2'), await put('3')];
    expect(await resolved()).toEqual({ kind: 'pending' });
    expect(await finish(three, one)).toEqual([three, one]);
    expect(await given()).toEqual([three, one]);
    const handles = [three, one].map((id) => `mcp-file://wharf/${id}`);
    expect(await resolved()).toEqual({ kind: 'ready', handles });
    expect(await resolved('bob')).toEqual({ kind: 'unknown' });
    expect(await lab.library.find(two)).toBeUndefined();
    expect(await lab.keys()).toHaveLength(2);
    expect(link.uri).toBe(`mcp-file://wharf/${link.id}`);
  });

  it.each([
    [
      'finished',
      async ({ finish, ids }: { finish: (...ids: string[]) => Promise<unknown>; ids: string[] }) => finish(...ids),
    ],
    ['given all files at once', async ({ sendAll }: { sendAll: (text: string) => Promise<unknown> }) => sendAll('3')],
  ])('ends what is under way at other places when it is %s', async (_, end) => {
    const { lab, add, put, finish, sendAll } = await begin({}, { least: 2, most: 4 });
    const ids = [await put('1'), await put('2')];
    const { ticket } = await add();
    const replica = lab.replica();
    await replica.begin(ticket, await replica.admit(ticket), { length: 9 });
    const under = await replica.open(ticket);
    await replica.append(under, 0, (until, take) => take({ bytes: piecesOf(Buffer.from('some')) }, until));
    const key = (await replica.open(ticket)).noted.progress.key ?? '';
    await end({ finish, sendAll, ids });
    await until(async () => !(await isUnderWay(lab.state, under.admission.fileId, key)));
    await lab.keys();
    expect(await lab.objects.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0);
  });

  it('is finished once, whichever replica says so first', async () => {
    const { put, finish, given, state } = await begin();
    const ids = [await put('1'), await put('2')];
    const ends = await Promise.allSettled([finish(...ids), finish(...ids.toReversed()), finish()]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toEqual(code('upload_done'));
    const [won] = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    expect(await given()).toEqual(won);
    expect(await state()).toBe('done');
  });

  it('takes neither fewer nor more than it says, nor a file that is not there', async () => {
    const { add, put, finish } = await begin();
    const one = await put('1');
    await expect(finish(one)).rejects.toEqual(reason('tooFewFiles'));
    await expect(finish(one, one)).rejects.toEqual(reason('tooFewFiles'));
    await expect(finish(one, 'f_AAAAAAAAAAAAAAAAAAAAAA')).rejects.toEqual(reason('uploadIncomplete'));
    const blank = await add();
    await expect(finish(one, blank.id)).rejects.toEqual(reason('uploadIncomplete'));
    const [two, three] = [await put('2'), await put('3')];
    // the place at which nothing has begun was given to another file
    await expect(add()).rejects.toEqual(reason('tooManyFiles'));
    expect(await finish()).toEqual([one, two, three]);
  });

  it('has no more places than files, however many ask at once', async () => {
    const { lab, link, add } = await begin({}, { least: 1, most: 5 });
    const places = await Promise.all(Array.from({ length: 12 }, add));
    const left = (await lab.library.bundles.find(link.id))?.files ?? [];
    expect(left).toHaveLength(5);
    const lost = places.filter(({ id }) => !left.includes(id));
    await expect(lab.uploadLinks.admit(lost[0]?.ticket ?? '')).rejects.toEqual(code('upload_cancelled'));
  });

  it('stores all files of one form or none, and adds them to those that are there', async () => {
    const { lab, put, sendAll, given } = await begin();
    const one = await put('1');
    const before = await lab.keys();
    await expect(sendAll('2', '3', '4')).rejects.toEqual(reason('tooManyFiles'));
    await expect(sendAll('2', '3', '4', '5')).rejects.toEqual(reason('tooManyFiles'));
    expect(await lab.keys()).toEqual(before);
    const all = await sendAll('2', '3');
    expect(all.map(({ id }) => id)).toEqual(await given());
    expect(await given()).toHaveLength(3);
    expect((await given())?.[0]).toBe(one);
  });

  it('refuses files that are too large together', async () => {
    const lab = createLab();
    const { ticket } = await lab.authorize({ several: { ...several, together: { bytes: 5, limit: 'accepts' } } });
    const sent = lab.uploads.receiveAll(await lab.uploadLinks.admit(ticket), bodiesOf(['123', '456']), NEVER);
    await expect(sent).rejects.toEqual(reason('maxSizeExceeded'));
    expect(await lab.keys()).toEqual([]);
  });

  it('removes a file with its place', async () => {
    const { lab, add, put, finish } = await begin();
    const place = await add();
    await lab.send(place.ticket, Buffer.from('gone'));
    await lab.several.remove(place.ticket);
    expect(await lab.keys()).toEqual([]);
    await expect(lab.send(place.ticket, Buffer.from('again'))).rejects.toEqual(code('upload_done'));
    const ids = [await put('1'), await put('2')];
    await finish(...ids);
    await expect(lab.several.remove(place.ticket)).rejects.toEqual(code('upload_done'));
  });

  it('removes what has come when it is cancelled, and takes nothing more at any place', async () => {
    const { lab, link, add, put, finish, resolved, state } = await begin();
    await put('1');
    const open = await add();
    await lab.uploadLinks.revoke(link.ticket);
    expect(await state()).toBe('cancelled');
    expect(await lab.keys()).toEqual([]);
    await expect(finish()).rejects.toEqual(code('upload_cancelled'));
    await expect(lab.send(open.ticket, Buffer.from('late'))).rejects.toEqual(code('upload_cancelled'));
    expect(await resolved()).toEqual({ kind: 'expired' });
  });

  it('keeps nothing of what is under way when it is cancelled, or when its place is given up', async () => {
    const { lab, link, add } = await begin();
    const [first, second] = [await add(), await add()];
    const ending = async function* (end: () => Promise<void>) {
      yield Buffer.from('late');
      await end();
    };
    const given = lab.send(
      first.ticket,
      ending(() => lab.several.remove(first.ticket)),
    );
    await expect(given).rejects.toEqual(code('upload_cancelled'));
    const late = lab.send(
      second.ticket,
      ending(() => lab.uploadLinks.revoke(link.ticket)),
    );
    await expect(late).rejects.toEqual(code('upload_cancelled'));
    await until(async () => (await lab.keys()).length === 0);
  });

  it.each([
    [
      'finished',
      async ({ finish, ids }: { finish: (...ids: string[]) => Promise<unknown>; ids: string[] }) => finish(...ids),
    ],
    ['given all files at once', async ({ sendAll }: { sendAll: (text: string) => Promise<unknown> }) => sendAll('3')],
  ])('keeps nothing of a file that ends after the link is %s', async (_, end) => {
    const { lab, add, put, finish, sendAll, given } = await begin({}, { least: 2, most: 4 });
    const [ids, { ticket }] = [[await put('1'), await put('2')], await add()];
    const ending = async function* () {
      yield Buffer.from('late');
      await end({ finish, sendAll, ids });
    };
    await expect(lab.send(ticket, ending())).rejects.toEqual(code('upload_cancelled'));
    const length = (await given())?.length;
    expect(length).toBeGreaterThan(1);
    await until(async () => (await lab.keys()).length === length);
  });

  it('tells who gives all files at once that it was cancelled meanwhile', async () => {
    const { lab, link } = await begin();
    async function* cancelling(): AsyncGenerator<UploadBody> {
      yield* bodiesOf(['1', '2']);
      await lab.uploadLinks.revoke(link.ticket);
    }
    const late = lab.uploads.receiveAll(await lab.uploadLinks.admit(link.ticket), cancelling(), NEVER);
    await expect(late).rejects.toEqual(code('upload_cancelled'));
    await until(async () => (await lab.keys()).length === 0);
  });

  it('stays as it is when it is cancelled after its end', async () => {
    const { lab, link, put, finish, given } = await begin();
    const ids = [await put('1'), await put('2')];
    await finish(...ids);
    await lab.uploadLinks.revoke(link.ticket);
    expect(await given()).toEqual(ids);
  });

  it('is finished after it has expired, with what was begun in time', async () => {
    const { lab, add, put, finish, resolved, state } = await begin();
    const ids = [await put('1'), await put('2')];
    lab.time.now += TTL + 1;
    expect(await state()).toBe('expired');
    expect(await resolved()).toEqual({ kind: 'expired' });
    await expect(add()).rejects.toEqual(code('link_expired'));
    expect(await finish(...ids)).toEqual(ids);
    expect(await resolved()).toMatchObject({ kind: 'ready' });
  });

  it('has its handle as long as its files are used', async () => {
    const { lab, put, finish, resolved, given } = await begin();
    const ids = [await put('1'), await put('2')];
    await finish(...ids);
    lab.time.now += RETENTION - 1;
    await lab.library.touch(ids[0] as string);
    lab.time.now += 2;
    // one of them has gone, and the list would be another one without it
    expect(await given()).toBeUndefined();
    lab.time.now += HOUR + RETENTION;
    expect(await resolved()).toEqual({ kind: 'unknown' });
  });

  it('is complete where the answer of the state store was lost', async () => {
    let isLost = false;
    const state = (real: StateStore): StateStore => ({
      ...real,
      create: (...all) => real.create(...all),
      read: (...all) => real.read(...all),
      extend: (...all) => real.extend(...all),
      remove: (...all) => real.remove(...all),
      take: (...all) => real.take(...all),
      check: () => real.check(),
      close: () => real.close(),
      replace: async (...all) => {
        const done = await real.replace(...all);
        if (isLost && all[0].startsWith('bundle:')) throw new Error('the answer was lost');
        return done;
      },
    });
    const { put, finish, given } = await begin({ state });
    const ids = [await put('1'), await put('2')];
    isLost = true;
    expect(await finish(...ids)).toEqual(ids);
    expect(await given()).toEqual(ids);
  });

  it('keeps no file of a form of which one cannot be recorded', async () => {
    let records = 0;
    const state = (real: StateStore): StateStore => ({
      ...real,
      create: async (...all) => {
        if (all[0].startsWith('file:') && ++records === 2) throw new Error('away');
        return real.create(...all);
      },
    });
    const { lab, sendAll, state: fate } = await begin({ state }, { least: 1, most: 3 });
    await expect(sendAll('one', 'two', 'three')).rejects.toThrow();
    const kept: string[] = [];
    for (const key of await lab.keys()) kept.push(String(await lab.bytesOf(key)));
    // the sweep removes what may have been recorded
    expect(kept).toEqual(['two']);
    expect(await fate()).toBe('open');
  });

  it('gives up no place whose file is on its way, also in one request', async () => {
    const { lab, add, given, finish } = await begin();
    const [one, two, three] = [await add(), await add(), await add()];
    const gates = [one, three].map(({ ticket }) => {
      let open = () => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      async function* bytes() {
        yield Buffer.from('a');
        await gate;
      }
      return { open, sent: lab.send(ticket, bytes()) };
    });
    await until(() => lab.uploads.isReceiving(one.id) && lab.uploads.isReceiving(three.id));
    // the place in the middle is the only one at which nothing has begun
    const other = await add();
    await lab.send(other.ticket, Buffer.from('b'));
    await expect(add()).rejects.toEqual(reason('tooManyFiles'));
    for (const { open } of gates) open();
    await Promise.all(gates.map(({ sent }) => sent));
    expect(await finish()).toEqual([one.id, three.id, other.id]);
    expect(await given()).not.toContain(two.id);
  });

  it('gives up no place whose file is on its way to another replica, and the place of one that broke off', async () => {
    const { lab, link, add, put } = await begin();
    const one = await add();
    await put('2');
    await put('3');
    let breakOff = () => {};
    const broken = new Promise<never>((_, reject) => {
      breakOff = () => reject(new Error('broken off'));
    });
    async function* bytes() {
      yield Buffer.from('a');
      await broken;
    }
    const sent = lab.send(one.ticket, bytes()).catch(() => 'broken off');
    await until(() => lab.uploads.isReceiving(one.id));
    const elsewhere = lab.severalElsewhere();
    const addElsewhere = async () => elsewhere.add(link.ticket, await lab.uploadLinks.admit(link.ticket));
    await expect(addElsewhere()).rejects.toEqual(reason('tooManyFiles'));
    breakOff();
    expect(await sent).toBe('broken off');
    await until(async () => (await addElsewhere().catch(() => undefined)) !== undefined);
  });

  it('takes a file at its place where the state store takes no mark of that', async () => {
    const away = async () => Promise.reject(new Error('away'));
    const state = (real: StateStore): StateStore => ({
      ...real,
      create: async (...all) => (all[0].startsWith('arriving:') ? away() : real.create(...all)),
    });
    const { put, finish } = await begin({ state });
    const files = [await put('1'), await put('2')];
    expect(await finish()).toEqual(files);
  });

  it('makes only so many places, however many are given up, because each is remembered', async () => {
    const { lab, add, put, finish } = await begin();
    await put('1');
    let made = 1;
    for (; made < 1000; made++) {
      const place = await add().catch(() => undefined);
      if (!place) break;
      if (made % 2 === 0) await lab.several.remove(place.ticket);
    }
    expect(made).toBe(20 * several.most);
    await expect(add()).rejects.toEqual(reason('tooManyFiles'));
    await expect(finish()).rejects.toEqual(reason('tooFewFiles'));
  });
});
