import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/audit/none.js';
import { GatewayError } from '../../../gateway/errors.js';
import { FewLines } from '../../../gateway/few-lines.js';
import { type Exchange, noFacts } from '../../../gateway/relay/exchange.js';
import { logExchange, noteFailure, noteRefused, reportError, tellError } from '../../../gateway/relay/exchange-log.js';
import { silentLog } from '../../helpers/silent-log.js';
import { ROOT } from '../../helpers/tree-copy.js';

const NO_AUDIT = create({});

/** Of a minute that has just begun. */
const noFewer = () => new FewLines({ ticks: () => 0 });

describe('a request that Wharf itself could not answer', () => {
  const refusal = (signal: AbortSignal) => {
    const lines: unknown[] = [];
    const log = { ...silentLog, warn: (fields: unknown) => void lines.push(fields) };
    const counted: unknown[] = [];
    const metrics = { count: (...given: unknown[]) => void counted.push(given), gauge() {}, observe() {} };
    const facts = noFacts();
    const gone = new GatewayError('internal', {}, 'the client has gone');
    noteRefused({ log, metrics, fewLines: noFewer() }, gone, { facts, signal, principal: 'ann' }, 'resources/read');
    return { lines, counted, error: facts.error };
  };

  it('is told to the operator', () => {
    expect(refusal(new AbortController().signal)).toEqual({
      lines: [expect.objectContaining({ code: 'internal', method: 'resources/read', principal: 'ann' })],
      counted: [['wharf_errors_total', { code: 'internal' }]],
      error: 'internal',
    });
  });

  it('is not a fault of Wharf’s when its client has gone, which clients do as often as they like', () => {
    expect(refusal(AbortSignal.abort())).toEqual({ lines: [], counted: [], error: 'client_gone' });
  });
});

it('names in the line of a failure’s cause the server, the caller and the request, as the line of the exchange does', () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void lines.push(fields) };
  const metrics = { count() {}, gauge() {}, observe() {} };
  const facts = { ...noFacts(), method: 'tools/call', name: 'read', requests: [{ id: '7', base: [] }] };
  const exchange: Partial<Exchange> = {
    facts,
    principal: 'ann',
    address: '192.0.2.1',
    signal: new AbortController().signal,
  };
  const cause = new Error('connect ECONNREFUSED');
  noteFailure(
    { log, metrics, fewLines: noFewer() },
    new GatewayError('state_unavailable', {}, cause),
    exchange as Exchange,
    'docs',
  );
  const whose = { server: 'docs', principal: 'ann', address: '192.0.2.1', id: '7', method: 'tools/call', name: 'read' };
  expect(lines).toEqual([{ ...whose, code: 'state_unavailable', err: cause }]);
});

it('names them also where the message of an answer failed after its head', () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void lines.push(fields) };
  const metrics = { count() {}, gauge() {}, observe() {} };
  const facts = { ...noFacts(), method: 'tools/call', name: 'read', requests: [{ id: '7', base: [] }] };
  const exchange = { facts, principal: 'ann', address: '192.0.2.1' };
  const full = new GatewayError('store_full');
  reportError({ log, metrics, fewLines: noFewer() }, full, 'a message could not be delivered', { exchange });
  expect(lines).toEqual([
    expect.objectContaining({ principal: 'ann', address: '192.0.2.1', id: '7', name: 'read', code: 'store_full' }),
  ]);
});

it('warns of a failure without a cause too, such as a time-out, and not of what a client has done', () => {
  const codes: unknown[] = [];
  const log = { ...silentLog, warn: (fields: object) => void codes.push((fields as { code: unknown }).code) };
  const exchange = { facts: noFacts(), principal: 'ann', signal: new AbortController().signal };
  for (const code of ['upstream_timeout', 'tool_unknown'] as const) {
    const metrics = { count() {}, gauge() {}, observe() {} };
    noteFailure(
      { log, metrics, fewLines: noFewer() },
      new GatewayError(code),
      exchange as Partial<Exchange> as Exchange,
      'docs',
    );
  }
  expect(codes).toEqual(['upstream_timeout']);
});

it('warns in the same way of a failure that is told in a message, after a head with status 200', () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) };
  const metrics = { count() {}, gauge() {}, observe() {} };
  const exchange = { facts: noFacts(), principal: 'ann', address: '192.0.2.1' };
  for (const code of ['upstream_timeout', 'tool_unknown'] as const)
    tellError({ log, metrics, fewLines: noFewer() }, new GatewayError(code), exchange);
  expect(lines).toEqual([{ code: 'upstream_timeout', principal: 'ann', address: '192.0.2.1' }]);
});

it('tells few of the failures of a minute that have one code at one server, and counts all', () => {
  const lines: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) };
  let counted = 0;
  const metrics = { count: () => void counted++, gauge() {}, observe() {} };
  const time = { now: 0 };
  const fewLines = new FewLines({ ticks: () => time.now });
  const fail = (server: string) => {
    const exchange = { facts: noFacts(), principal: 'ann', signal: new AbortController().signal };
    const error = new GatewayError('upstream_unreachable', { server });
    noteFailure({ log, metrics, fewLines }, error, exchange as Partial<Exchange> as Exchange, server);
    const told = { facts: noFacts(), principal: 'ann' };
    tellError({ log, metrics, fewLines, server }, error, told);
    expect([exchange.facts.error, told.facts.error]).toEqual([error.code, error.code]);
  };
  for (let at = 0; at < 50; at++) fail('docs');
  expect([lines.length, counted]).toEqual([10, 100]);
  fail('other');
  expect(lines.length).toBe(12);
  time.now = 60_000;
  fail('docs');
  expect(lines.slice(12)).toEqual([
    expect.objectContaining({ leftOut: 90 }),
    expect.not.objectContaining({ leftOut: expect.anything() }),
  ]);
});

it.each([
  ['GET', 405, 'ok'],
  ['DELETE', 405, 'ok'],
  ['POST', 405, 'http_405'],
  ['GET', 404, 'http_404'],
])(
  'counts %s with %d as %s: a server without a stream of its own says so, and has not failed',
  (verb, status, outcome) => {
    const counted: unknown[] = [];
    const metrics = { count: (...given: unknown[]) => void counted.push(given), gauge() {}, observe() {} };
    const exchange: Partial<Exchange> = { facts: noFacts(), principal: '', body: Buffer.alloc(0) };
    const tellers = { log: silentLog, metrics, clock: { ticks: () => 0 }, audit: NO_AUDIT };
    logExchange(tellers, exchange as Exchange, { server: 'docs', verb, status, startedAt: 0 });
    expect(counted).toEqual([['wharf_exchanges_total', { server: 'docs', outcome }]]);
  },
);

it('puts nothing into the line of an exchange that OPERATIONS.md does not explain', async () => {
  const lines: object[] = [];
  const log = { ...silentLog, info: (fields: object) => void lines.push(fields) };
  const tellers = {
    log,
    metrics: { count() {}, observe() {}, gauge() {} },
    clock: { ticks: () => 0 },
    audit: NO_AUDIT,
  };
  const exchange: Partial<Exchange> = { facts: noFacts(), principal: 'ann', body: Buffer.alloc(0) };
  logExchange(tellers, exchange as Exchange, { server: 'docs', verb: 'POST', status: 200, startedAt: 0 });
  const page = await readFile(join(ROOT, 'OPERATIONS.md'), 'utf8');
  const [row = ''] = /^\| `exchange`: .*$/m.exec(page) ?? [];
  expect(Object.keys(lines[0] ?? {}).filter((field) => !row.includes(`\`${field}\``))).toEqual([]);
});
