import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { createGuard, type GuardSettings, guardSettings } from '../../../gateway/http/origin/guard.js';

const PORT = 8080;
const OWN = guardSettings({
  allowedHosts: ['gw.internal'],
  allowedOrigins: ['https://app.example'],
  publicUrl: undefined,
});
/** Of the admin port: its pages are its own, and people reach it by any address. */
const ADMIN: GuardSettings = { ...OWN, trustsLoopbackPages: false, isReadByPages: false, answersToAddresses: true };

interface Asked {
  url?: string;
  method?: string;
  /** Names and values, in the order of the wire. */
  headers: readonly [string, string][];
}

function request({ url = '/mcp', method = 'POST', headers }: Asked): IncomingMessage {
  // Node keeps the first of several
  const kept = Object.fromEntries([...headers].reverse().map(([name, value]) => [name.toLowerCase(), value]));
  return { url, method, headers: kept, rawHeaders: headers.flat(), socket: { localPort: PORT } } as never;
}

/** The code of the refusal, or the origin that may read the answer. */
function outcome(settings: GuardSettings, asked: Asked): string {
  try {
    return createGuard(settings)(request(asked)) ?? 'passes';
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

const to = (host: string, ...more: [string, string][]): Asked => ({ headers: [['Host', host], ...more] });
const from = (origin: string, host = 'localhost:8080') => to(host, ['Origin', origin]);

describe('the Host of a request', () => {
  it.each([
    ['localhost:8080', 'passes'],
    ['127.0.0.1', 'passes'],
    ['[::1]:8080', 'passes'],
    ['GW.internal:1', 'passes'],
    ['gw.internal.evil.example', 'host_forbidden'],
    ['127.0.0.2:8080', 'host_forbidden'],
    ['localhost:99999', 'request_invalid'],
  ])('%s: %s', (host, expected) => {
    expect(outcome(OWN, to(host))).toBe(expected);
  });

  it('must be there once: the proxy in front may have used another one', () => {
    expect(outcome(OWN, { headers: [] })).toBe('request_invalid');
    expect(outcome(OWN, to('localhost', ['host', 'localhost']))).toBe('request_invalid');
    expect(outcome(OWN, to('localhost', ['HOST', 'evil.example']))).toBe('request_invalid');
  });

  it('is judged anew after one that was good', () => {
    const guard = createGuard(OWN);
    guard(request(to('localhost')));
    expect(() => guard(request(to('evil.example')))).toThrow('evil.example');
    expect(() => guard(request(to('localhost')))).not.toThrow();
  });

  it.each(['192.0.2.7:9090', '[2001:db8::1]:9090'])('may be any address at the admin port: %s', (host) => {
    expect([outcome(ADMIN, to(host)), outcome(OWN, to(host))]).toEqual(['passes', 'host_forbidden']);
  });

  it.each(['192.0.2.7.evil.example', '[fe80::1%eth0]:9090'])('is no address there that is written %s', (host) => {
    expect(outcome(ADMIN, to(host))).toMatch(/_forbidden|_invalid/);
  });

  it('is repeated in its refusal in a short form and without what a terminal obeys', () => {
    const guard = createGuard(OWN);
    expect(() => guard(request(to('evil\u001b[2J\u202e.example')))).toThrow('evil?[2J?.example');
    expect(() => guard(request(to('x'.repeat(200))))).toThrow(`${'x'.repeat(100)}…`);
  });
});

describe('the target of a request', () => {
  it.each(['*', 'http://localhost/mcp', '//evil.example/mcp', '/a\\b', '/a#b', '/a/../admin', '/a/%2E%2e/admin', '/.'])(
    'is refused where two parsers could read it in two ways: %s',
    (url) => {
      expect(outcome(OWN, { ...to('localhost'), url })).toBe('request_invalid');
    },
  );

  it.each(['/mcp', '/a/...', '/a.b/c', '/d/x?next=/../y', '/mcp//'])('passes otherwise: %s', (url) => {
    expect(outcome(OWN, { ...to('localhost'), url })).toBe('passes');
  });
});

describe('the Origin of a request', () => {
  it.each([
    ['https://app.example', 'https://app.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://localhost:8080', 'passes'],
    ['http://app.example', 'origin_forbidden'],
    ['https://app.example:8443', 'origin_forbidden'],
    ['https://app.example.evil.example', 'origin_forbidden'],
    ['null', 'origin_forbidden'],
  ])('%s: %s', (origin, expected) => {
    expect(outcome(OWN, from(origin))).toBe(expected);
  });

  it('must be there once at the most', () => {
    const twice: [string, string][] = [
      ['Origin', 'https://app.example'],
      ['Origin', 'https://evil.example'],
    ];
    expect(outcome(OWN, to('localhost', ...twice))).toBe('origin_forbidden');
  });

  it('is not asked for where clients log in: those documents are for every page', () => {
    const asked = from('https://any.example');
    expect(outcome(OWN, { ...asked, url: '/.well-known/oauth-protected-resource/s/mcp' })).toBe('passes');
    expect(outcome(OWN, { ...asked, url: '/x/.well-known/oauth-protected-resource' })).toBe('origin_forbidden');
  });

  it('is that of publicUrl alone where there is one', () => {
    const settings = guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: 'https://w.example/base' });
    expect(outcome(settings, from('https://w.example', 'w.example'))).toBe('passes');
    expect(outcome(settings, from('http://localhost:3000', 'w.example'))).toBe('origin_forbidden');
  });
});

describe('a page of another site at the admin port', () => {
  const form = (...headers: [string, string][]) => outcome(ADMIN, to('localhost:8080', ...headers));

  it.each(['same-site', 'cross-site'])('sends no form as %s', (site) => {
    expect(form(['Sec-Fetch-Site', site])).toBe('origin_forbidden');
  });

  it('sends none from another port of this machine, in a browser that does not say so', () => {
    expect(form(['Origin', 'http://localhost:3000'])).toBe('origin_forbidden');
    expect(form(['Origin', 'http://127.0.0.1:8080'])).toBe('origin_forbidden');
    expect(form(['Origin', 'http://localhost:8080'])).toBe('passes');
  });

  it.each(['same-origin', 'none'])('is not what sends one as %s', (site) => {
    expect(form(['Sec-Fetch-Site', site])).toBe('passes');
  });

  it('may lead a person to a page, which changes nothing', () => {
    expect(outcome(ADMIN, { ...to('localhost', ['Sec-Fetch-Site', 'cross-site']), method: 'GET' })).toBe('passes');
  });

  it('reads nothing, although it may call', () => {
    const asked = from('https://app.example');
    expect(outcome({ ...ADMIN, allowedOrigins: ['https://app.example'] }, { ...asked, method: 'GET' })).toBe('passes');
  });
});
