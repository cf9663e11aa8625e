import { expect, it } from '@jest/globals';
import { create as noAudit } from '../../../adapters/audit/none.js';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { FewLines } from '../../../gateway/few-lines.js';
import { downloadParts } from '../../../gateway/parts/downloads.js';
import { silentLog } from '../../helpers/silent-log.js';
import { createLab, HELLO, RETENTION } from '../files/uploads/upload-lab.js';

it('a file is extended once in a thousandth of its life, however many parts of it a link is asked for', async () => {
  const extended: string[] = [];
  const lab = createLab({
    state: (real) => ({
      ...real,
      extend: (key, ttlMs) => {
        extended.push(key);
        return real.extend(key, ttlMs);
      },
    }),
  });
  const { id, ticket } = await lab.authorize();
  await lab.send(ticket, HELLO);
  const link = await lab.tickets.mintDownload(id, RETENTION, { principal: 'ann' });
  const { resolveTicket } = downloadParts(
    {
      objects: lab.objects,
      audit: noAudit({}),
      clock: { now: () => lab.time.now },
      log: silentLog,
      fewLines: new FewLines({ ticks: () => 0 }),
      metrics: { count() {}, observe() {}, gauge() {} },
      timeouts: { idle: 1000 },
    },
    lab,
    {
      openDownloads: new Ledger({ limit: 'limits.downloads', total: 1, sharing: UNSHARED }),
      open: { count: 0 },
      refused: () => undefined,
    },
  );
  lab.time.now += RETENTION / 2;
  for (let part = 0; part < 3; part++) expect(await resolveTicket(link.ticket)).toMatchObject({ kind: 'ok' });
  expect(extended.sort()).toEqual([`file:${id}`, `handle:${id}`]);
  lab.time.now += RETENTION / 1000;
  await resolveTicket(link.ticket);
  expect(extended).toHaveLength(4);
});
