import { describe, expect, it } from '@jest/globals';
import { type ChainEnd, newChain } from '../../../gateway/audit/chain.js';
import { Journal, type Sink } from '../../../gateway/audit/journal.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import type { Log } from '../../../gateway/ports/log.js';
import { silentLog } from '../../helpers/silent-log.js';

const CALL: AuditEntry = { what: 'call', principal: 'ada', server: 'store', tool: 'echo', allowed: true };
const REFUSED: AuditEntry = { what: 'download', allowed: false, code: 'link_unknown' };
const LOGIN: AuditEntry = {
  what: 'login',
  allowed: false,
  address: '192.0.2.1',
  reason: 'expired',
  code: 'unauthorized',
};

/** A place for lines whose writes end when the test says so. */
class HeldSink implements Sink {
  readonly end: ChainEnd = newChain();
  readonly batches: string[][] = [];
  error: Error | undefined;
  isHeld = false;
  #release: (() => void)[] = [];

  async append(lines: Buffer): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#release.push(resolve));
    if (this.error) throw this.error;
    this.batches.push(lines.toString().trimEnd().split('\n'));
  }

  release(): void {
    this.isHeld = false;
    for (const release of this.#release.splice(0)) release();
  }

  async close(): Promise<void> {}

  get lines(): Record<string, unknown>[] {
    return this.batches.flat().map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

function journal(settings: { required?: boolean; queue?: number; wait?: number } = {}, log: Log = silentLog) {
  const sink = new HeldSink();
  const clock = { time: 0, now: () => clock.time };
  const made = new Journal({
    name: 'test',
    sink,
    settings: { required: true, queue: 100, wait: 60_000, ...settings },
    sharing: UNSHARED,
    clock,
    log,
  });
  return { journal: made, sink, clock };
}

describe('an audit log', () => {
  it.each(['https://idp.example|ada@example.com', 'https://idp.example|ada?1', 'https://idp.example/|bearer of#1'])(
    'names the caller %s whole, whatever it looks like',
    async (principal) => {
      const { journal: audit, sink } = journal();
      await audit.record({ ...CALL, principal });
      expect(sink.lines[0]).toMatchObject({ principal });
    },
  );

  it('writes what comes while a batch is written as one batch after it, in order', async () => {
    const { journal: audit, sink } = journal();
    sink.isHeld = true;
    const first = audit.record(CALL);
    await new Promise(setImmediate);
    const rest = [1, 2, 3].map((n) => audit.record({ ...CALL, tool: `t${n}` }));
    sink.release();
    await Promise.all([first, ...rest]);
    expect(sink.batches.map((batch) => batch.length)).toEqual([1, 3]);
    expect(sink.lines.map(({ seq, tool }) => [seq, tool])).toEqual([
      [1, 'echo'],
      [2, 't1'],
      [3, 't2'],
      [4, 't3'],
    ]);
  });

  it('refuses what cannot be written, and goes on with an unbroken chain that says how many are missing', async () => {
    const { journal: audit, sink } = journal();
    await audit.record(CALL);
    sink.error = Object.assign(new Error('no'), { code: 'ENOSPC' });
    await expect(audit.record(CALL)).rejects.toMatchObject({
      code: 'audit_unavailable',
      facts: { reason: 'its disk is full' },
    });
    await expect(audit.check()).rejects.toMatchObject({ code: 'audit_unavailable' });
    sink.error = undefined;
    await audit.check();
    await audit.record(CALL);
    expect(sink.lines.map(({ seq, missed }) => [seq, missed])).toEqual([
      [1, undefined],
      [2, 2],
      [3, undefined],
    ]);
  });

  it('drops what cannot be written where it need not be, and says so', async () => {
    const { journal: audit, sink } = journal({ required: false });
    sink.error = new Error('no');
    await audit.record(CALL);
    await new Promise(setImmediate);
    await audit.check();
    sink.error = undefined;
    audit.note(CALL);
    await audit.close();
    expect(sink.lines).toMatchObject([{ seq: 1, missed: 1 }]);
  });

  it('keeps at most audit.queue entries waiting', async () => {
    const { journal: audit, sink } = journal({ queue: 10 });
    sink.isHeld = true;
    const taken = Array.from({ length: 10 }, () => audit.record(CALL));
    await expect(audit.record(CALL)).rejects.toMatchObject({
      code: 'audit_unavailable',
      facts: { limit: 'audit.queue', allowed: 10 },
    });
    sink.release();
    await Promise.all(taken);
    await audit.record(CALL);
  });

  it('lets no call wait longer than audit.wait, and records nothing as done that was refused for it', async () => {
    const { journal: audit, sink } = journal({ wait: 20 });
    sink.isHeld = true;
    const first = audit.record(CALL);
    await new Promise(setImmediate);
    const second = audit.record({ ...CALL, tool: 'second' });
    await expect(first).rejects.toMatchObject({ facts: { limit: 'audit.wait' } });
    await expect(second).rejects.toMatchObject({ facts: { limit: 'audit.wait' } });
    await expect(audit.record(CALL)).rejects.toMatchObject({ facts: { limit: 'audit.wait' } });
    sink.release();
    await audit.close();
    expect(sink.lines.map(({ tool }) => tool)).not.toContain('second');
  });

  it('bounds lines about refused callers without a name, and says how many it left out', async () => {
    const { journal: audit, sink, clock } = journal();
    for (let n = 0; n < 100; n++) audit.note(REFUSED);
    await audit.record(CALL);
    clock.time += 60_000;
    audit.note(REFUSED);
    await audit.close();
    expect(sink.lines.filter(({ what }) => what === 'download')).toHaveLength(61);
    expect(sink.lines.reduce((sum, { leftOut }) => sum + Number(leftOut ?? 0), 0)).toBe(40);
  });

  it.each([
    ['downloads', REFUSED],
    ['logins', LOGIN],
  ])('begins new lines of refused %s when the clock has been set back', async (_, entry) => {
    const { journal: audit, sink, clock } = journal();
    clock.time = 10_000_000;
    for (let n = 0; n < 100; n++) audit.note(entry);
    await audit.record(CALL);
    clock.time -= 3_600_000;
    audit.note(entry);
    await audit.record(CALL);
    const times = sink.lines.filter(({ what, count }) => what === entry.what && count === undefined);
    expect(times.at(-1)).toMatchObject({ time: new Date(clock.time).toISOString() });
  });

  it('makes one line of the refused logins of an address in a minute, and one with their number', async () => {
    const { journal: audit, sink, clock } = journal();
    clock.time = 1_000_000;
    for (let n = 0; n < 100_000; n++) audit.note(LOGIN);
    audit.note({ ...LOGIN, reason: 'signature' });
    clock.time += 60_000;
    audit.note(LOGIN);
    await audit.close();
    expect(sink.lines.map(({ reason, count, since }) => [reason, count, since])).toEqual([
      ['expired', undefined, undefined],
      ['signature', undefined, undefined],
      ['expired', 99_999, new Date(1_000_000).toISOString()],
      ['expired', undefined, undefined],
    ]);
  });

  it('makes few lines of what a caller sends past a limit, so that it pushes nothing older out', async () => {
    const { journal: audit, sink, clock } = journal();
    clock.time = 1_000_000;
    const limited = {
      ...CALL,
      allowed: false,
      code: 'rate_limited',
      rule: 'limits.requestsPerMinute',
      tool: undefined,
    };
    const download: AuditEntry = {
      ...limited,
      what: 'download',
      code: 'range_invalid',
      files: [{ id: 'f_1', size: 3 }],
    };
    const upload: AuditEntry = { ...limited, what: 'upload', code: 'upload_code_needed', rule: undefined };
    for (let n = 0; n < 100_000; n++) {
      audit.note(limited);
      audit.note(download);
      audit.note(upload);
    }
    audit.note({ ...limited, principal: 'bob' });
    // other refusals are rarer than the limit, and each is told
    for (let n = 0; n < 3; n++) audit.note({ ...limited, code: 'tool_unknown' });
    await audit.close();
    expect(sink.lines.map(({ what, principal, code, count }) => [what, principal, code, count])).toEqual([
      ['call', 'ada', 'rate_limited', undefined],
      ['download', 'ada', 'range_invalid', undefined],
      ['upload', 'ada', 'upload_code_needed', undefined],
      ['call', 'bob', 'rate_limited', undefined],
      ...Array.from({ length: 3 }, () => ['call', 'ada', 'tool_unknown', undefined]),
      ['call', 'ada', 'rate_limited', 99_999],
      ['download', 'ada', 'range_invalid', 99_999],
      ['upload', 'ada', 'upload_code_needed', 99_999],
    ]);
  });

  it('names a refused caller however many kinds of refusal another one causes', async () => {
    const { journal: audit, sink, clock } = journal({ queue: 2000 });
    clock.time = 1_000_000;
    const limited = { ...CALL, allowed: false, code: 'rate_limited', rule: 'limits.requestsPerMinute' };
    for (let n = 0; n < 5000; n++) audit.note({ ...limited, tool: `made-up-${n}` });
    audit.note({ ...limited, principal: 'bob' });
    await audit.close();
    expect(sink.lines).toHaveLength(102);
    expect(sink.lines.at(-2)).toMatchObject({ principal: 'bob', code: 'rate_limited' });
    const rest = { principal: 'ada', subject: 'further refusals', code: 'rate_limited', count: 4900 };
    expect(sink.lines.at(-1)).toMatchObject(rest);
  });

  it('counts refused logins of more than 60 addresses together, so that they do not fill the disk either', async () => {
    const { journal: audit, sink, clock } = journal({ queue: 1000 });
    clock.time = 1_000_000;
    for (let n = 0; n < 1000; n++) audit.note({ ...LOGIN, address: `192.0.2.${n}` });
    await audit.close();
    expect(sink.lines).toHaveLength(61);
    expect(sink.lines.at(-1)).toMatchObject({ subject: 'other addresses', code: 'unauthorized', count: 940 });
    expect(sink.lines.at(-1)?.address).toBeUndefined();
  });

  it('ends although its last lines cannot be written, and says how many are missing', async () => {
    const told: [unknown, string][] = [];
    const log = { ...silentLog, error: (fields: unknown, text: string) => void told.push([fields, text]) };
    const { journal: audit, sink } = journal({ wait: 50 }, log);
    sink.isHeld = true;
    const refused = audit.record(CALL);
    audit.note(REFUSED);
    await audit.close();
    await expect(refused).rejects.toThrow('audit log');
    const lost = expect.objectContaining({ missed: 2 });
    expect(told).toContainEqual([lost, 'The audit log cannot be written to its end.']);
    sink.release();
  });

  it('writes once what many requests repeat, and lets none of them go on before it is written', async () => {
    const { journal: audit, sink } = journal();
    sink.isHeld = true;
    const waits = [audit.once('a', CALL), audit.once('a', CALL)];
    expect(waits[0]).toBe(waits[1]);
    await new Promise(setImmediate);
    sink.release();
    await Promise.all(waits);
    expect(audit.once('a', CALL)).toBeUndefined();
    await audit.once('b', CALL);
    expect(sink.lines).toHaveLength(2);
  });

  it('tries again to write once what could not be written', async () => {
    const { journal: audit, sink } = journal();
    sink.error = new Error('no');
    await expect(audit.once('a', CALL)).rejects.toMatchObject({ code: 'audit_unavailable' });
    sink.error = undefined;
    await audit.once('a', CALL);
    expect(sink.lines).toMatchObject([{ seq: 1 }]);
  });

  it('never writes a credential, and no long text of a peer', async () => {
    const { journal: audit, sink } = journal();
    await audit.record({
      ...CALL,
      client: `x${'y'.repeat(10_000)}`,
      tool: undefined,
      subject: 'https://ada:pass@example.com/a?sig=abc&token=def',
    });
    const [line] = sink.batches.flat();
    expect(line).not.toMatch(/pass|abc|def/);
    expect(line?.length).toBeLessThan(2000);
  });
});
