import { beforeEach, describe, expect, it } from '@jest/globals';
import { Tickets } from '../../../../gateway/files/tickets/ticket.js';
import { StateKeys } from '../../../../gateway/secrets/state-keys.js';
import { createLab, HELLO, type Lab, TTL } from '../uploads/upload-lab.js';

let lab: Lab;
let tickets: Tickets;
/** What the state store keeps has a life of its own, an hour longer: here it never ends. */
const HOURS = 3_600_000;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

beforeEach(() => {
  lab = createLab({ state: (real) => ({ ...real, create: (key, value) => real.create(key, value, 100 * HOURS) }) });
  tickets = new Tickets(
    { ...lab.state, create: (key, value) => lab.state.create(key, value, 100 * HOURS) },
    new StateKeys(['secret']),
    { now: () => lab.time.now },
  );
});

describe('the ticket of a download', () => {
  it('is good until the moment at which it ends, whatever the state store still keeps', async () => {
    const { ticket, expiresAt } = await tickets.mintDownload('f_1', TTL, {});
    expect(expiresAt).toBe(lab.time.now + TTL);
    lab.time.now += TTL - 1;
    expect(await tickets.redeemDownload(ticket)).toEqual({ kind: 'ok', fileId: 'f_1', expiresAt });
    lab.time.now += 1;
    expect(await tickets.redeemDownload(ticket)).toEqual({ kind: 'expired' });
    lab.time.now += 10 * HOURS;
    expect(await tickets.redeemDownload(ticket)).toEqual({ kind: 'expired' });
  });

  it('has one spelling, also where it holds all that it means', async () => {
    const lasting = new Tickets(lab.state, new StateKeys(['secret']), { now: () => lab.time.now }, 24 * HOURS);
    const ticket = lasting.lasting(`f_${'A'.repeat(22)}`);
    expect(await lasting.redeemDownload(ticket)).toMatchObject({ kind: 'ok' });
    const others = [...LETTERS].map((last) => ticket.slice(0, -1) + last).filter((other) => other !== ticket);
    for (const other of others) expect(await lasting.redeemDownload(other)).toEqual({ kind: 'unknown' });
  });

  it('is of no use for an upload, nor that of an upload for a download', async () => {
    const { ticket } = await tickets.mintDownload('f_1', TTL, {});
    expect(await tickets.findUpload(ticket)).toBeUndefined();
    const upload = await tickets.mintUpload('f_2', { principal: 'ann' }, lab.time.now + TTL);
    expect(await tickets.redeemDownload(upload)).toEqual({ kind: 'unknown' });
  });
});

describe('the ticket of an upload', () => {
  it('is good until the moment at which it ends, whatever the state store still keeps', async () => {
    const { ticket } = await lab.authorize();
    lab.time.now += TTL;
    expect((await lab.uploadLinks.inspect(ticket)).kind).toBe('expired');
    await expect(lab.send(ticket, HELLO)).rejects.toMatchObject({ code: 'link_expired' });
    lab.time.now -= 1;
    expect((await lab.uploadLinks.inspect(ticket)).kind).toBe('open');
  });

  it('keeps the mark of another replica that comes at the same time as its own', async () => {
    const upload = await tickets.mintUpload('f_1', { principal: 'ann' }, lab.time.now + TTL);
    let isFirst = true;
    const replace: typeof lab.state.replace = async (...given) => {
      if (isFirst) {
        isFirst = false;
        await tickets.noteOpened(upload);
      }
      return lab.state.replace(...given);
    };
    const other = new Tickets({ ...lab.state, replace }, new StateKeys(['secret']), { now: () => lab.time.now });
    await other.revokeUpload(upload);
    expect(await tickets.findUpload(upload)).toMatchObject({ isOpened: true, isRevoked: true });
  });

  it('is known as one that has ended for an hour after the upload that it is kept for', async () => {
    const { state, time } = createLab();
    const own = new Tickets(state, new StateKeys(['secret']), { now: () => time.now });
    const upload = await own.mintUpload('f_1', { principal: 'ann' }, time.now + TTL);
    await own.keep(upload, time.now + 10 * HOURS);
    time.now += 11 * HOURS - 1;
    expect(await own.findUpload(upload)).toMatchObject({ fileId: 'f_1', isExpired: true });
    time.now += 1;
    expect(await own.findUpload(upload)).toBeUndefined();
  });
});
