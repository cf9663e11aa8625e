import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../gateway/errors.js';
import { FewLines } from '../../../gateway/few-lines.js';
import type { FileRecord } from '../../../gateway/files/file.js';
import type { Admission } from '../../../gateway/files/uploads/upload-links.js';
import { Lately } from '../../../gateway/http/console/lately.js';
import { passCookie, proofIn } from '../../../gateway/http/upload-code.js';
import { exchangeUpload, ticketFor, type UploadExchangeDeps } from '../../../gateway/http/upload-exchange.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import { silentLog } from '../../helpers/silent-log.js';

const RECORD = { id: 'f_1', size: 5, mimeType: 'text/plain' } as FileRecord;

/** What one request for an upload leads to, with a link of Ann's. */
function setUp({ proves = true, record = async () => {} }: { proves?: boolean; record?: () => Promise<void> } = {}) {
  const outcomes: string[] = [];
  const withdrawn: string[] = [];
  const noted: AuditEntry[] = [];
  const open = { count: 0 };
  const lately = new Lately({ now: () => 0 });
  const requests = new Ledger({ limit: 'limits.sockets', total: 10, sharing: UNSHARED });
  const intent = { principal: 'ann' };
  const count = (name: string, labels: Record<string, string> = {}) => {
    if (name === 'wharf_uploads_total') outcomes.push(labels.outcome ?? '');
  };
  const deps = {
    uploadLinks: {
      link: async () => ({ intent }),
      prove: async () => {
        if (!proves) throw new GatewayError('upload_code_wrong');
      },
    },
    ...{ requests, open, lately, quotas: { isOn: false }, log: silentLog, metrics: { count } },
    fewLines: new FewLines({ ticks: () => 0 }),
    audit: { isOn: true, check: async () => {}, record, note: (entry: AuditEntry) => void noted.push(entry) },
    withdraw: async ({ id }: FileRecord) => void withdrawn.push(id),
    refused: () => {},
  } as unknown as UploadExchangeDeps;
  const socket = new EventEmitter();
  const incoming = { headers: {}, rawHeaders: [], socket } as unknown as IncomingMessage;
  const outgoing = Object.assign(new EventEmitter(), { destroyed: false, socket }) as unknown as ServerResponse;
  const send = (run: () => Promise<readonly FileRecord[]>) =>
    exchangeUpload<readonly FileRecord[]>(deps, incoming, outgoing, {
      ticket: 't',
      admit: async () => ({ fileId: 'f_1', intent }) as Admission,
      run,
      recordsOf: (records) => records,
    });
  return { send, outcomes, withdrawn, noted, open, lately, requests, outgoing };
}

describe('a request for an upload', () => {
  it('is one of the running exchanges until its client has the answer: a drain waits for it', async () => {
    const { send, open, outgoing, requests } = setUp();
    const sent = send(async () => [RECORD]);
    expect(open.count).toBe(1);
    await sent;
    expect([open.count, requests.used]).toEqual([1, 0]);
    outgoing.emit('close');
    expect(open.count).toBe(0);
  });

  it('leaves no file that the audit log does not name', async () => {
    const { send, withdrawn, outcomes } = setUp({
      record: () => Promise.reject(new GatewayError('audit_unavailable')),
    });
    await expect(send(async () => [RECORD, { ...RECORD, id: 'f_2' }])).rejects.toMatchObject({
      code: 'audit_unavailable',
    });
    expect([withdrawn, outcomes]).toEqual([['f_1', 'f_2'], ['failed']]);
  });

  it('is a refusal for the console where the sender has the code of the link, and not where a stranger guesses', async () => {
    const refuse = () => Promise.reject(new GatewayError('upload_too_large', { allowed: 1, actual: 2 }));
    const own = setUp();
    await expect(own.send(refuse)).rejects.toMatchObject({ code: 'upload_too_large' });
    expect(own.lately.refusals).toMatchObject([{ principal: 'ann', method: 'upload', code: 'upload_too_large' }]);
    const stranger = setUp({ proves: false });
    await expect(stranger.send(refuse)).rejects.toMatchObject({ code: 'upload_code_wrong' });
    expect([stranger.lately.refusals, stranger.outcomes]).toEqual([[], ['refused']]);
    expect(stranger.noted).toMatchObject([
      { what: 'upload', principal: 'ann', allowed: false, code: 'upload_code_wrong' },
    ]);
  });

  it.each([
    ['storage_full', 'refused'],
    ['store_full', 'failed'],
    ['upload_incomplete', 'aborted'],
  ] as const)('that ends with %s is %s', async (code, outcome) => {
    const { send, outcomes } = setUp();
    await expect(send(() => Promise.reject(new GatewayError(code)))).rejects.toMatchObject({ code });
    expect(outcomes).toEqual([outcome]);
  });
});

describe('a link for its caller alone', () => {
  const found = (principal: string, isCallers: boolean) => {
    const deps = {
      authenticate: () => ({ principal }),
      uploadLinks: { link: async () => ({ intent: { principal: 'ann', isCallers } }) },
    } as unknown as UploadExchangeDeps;
    return ticketFor(deps, 'ticket', {} as IncomingMessage);
  };

  it('does not exist for another one', async () => {
    expect([await found('ann', true), await found('bob', true)]).toEqual(['ticket', '']);
    expect(await found('bob', false)).toBe('ticket');
  });
});

describe('the code of a link', () => {
  it('is remembered by a cookie that no script reads, over https alone where Wharf is reached by it', () => {
    expect(passCookie('f_1', 'pass', 0.2, true)).toBe('wharf-f_1=pass; Max-Age=1; HttpOnly; SameSite=Lax; Secure');
    expect(passCookie('f_1', 'pass', 60, false)).not.toContain('Secure');
  });

  it('is read from its header as far as a code goes, and from the cookie of its own file', () => {
    const headers = { 'wharf-code': 'x'.repeat(5000), cookie: 'wharf-f_2=other; wharf-f_1=mine' };
    expect(proofIn({ headers }, 'f_1')).toEqual({ pass: 'mine', code: 'x'.repeat(64) });
    expect(proofIn({ headers: {} }, 'f_1')).toEqual({ pass: undefined });
  });
});
