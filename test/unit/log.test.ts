import { describe, expect, it } from '@jest/globals';
import { createLog, takePrinted } from '../../gateway/log.js';
import { redactFields, redactText } from '../../gateway/redact.js';

function capture(level: 'debug' | 'info' = 'info') {
  const lines: string[] = [];
  return { lines, log: createLog(level, { write: (line) => lines.push(line) }) };
}

describe('a log line', () => {
  it('is one JSON object with a time, a level word, the text and the fields', () => {
    const { lines, log } = capture();
    log.child({ server: 'a' }).warn({ bytes: 5 }, 'Something.');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'warn',
      server: 'a',
      bytes: 5,
      text: 'Something.',
    });
  });

  it('names its caller whole, whatever the name looks like', () => {
    const principal = 'https://idp.example|ada@example.com';
    const { lines, log } = capture();
    log.info({ principal, facts: { principal } }, 'seen');
    log.child({ principal }).info({}, 'seen');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ principal });
    expect(lines.join('')).not.toContain('redacted');
  });

  it('is left out below the level', () => {
    const { lines, log } = capture();
    log.debug({}, 'Detail.');
    expect(lines).toEqual([]);
  });

  it('is written and left out by a level that has changed meanwhile, also in logs that were made before', () => {
    const { lines, log } = capture();
    const child = log.child({ server: 'a' });
    log.setLevel('debug');
    child.debug({}, 'Detail.');
    log.setLevel('error');
    for (const one of [log, child]) one.warn({}, 'Left out.');
    expect(lines.map((line) => JSON.parse(line).text)).toEqual(['Detail.']);
  });

  it('stays one line whatever a peer sent', () => {
    const { lines, log } = capture();
    log.info({ name: 'a\r\nb\u2028{"level":"error"}\u0000' }, 'Named.');
    expect(lines[0]?.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('what never reaches a log', () => {
  it.each([
    ['a ticket in a path', 'GET /d/AbCdEf0123456789_-xyz HTTP', 'AbCdEf0123456789'],
    ['a ticket in a URL', 'http://h:1/wharf/d/AbCdEf0123456789_-xyz?x', 'AbCdEf0123456789'],
    ['an upload ticket', '/u/AbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['the ticket of a login', 'GET /oauth/login/AbCdEf0123456789_-xyz HTTP', 'AbCdEf0123456789'],
    ['the ticket of a login in a URL with escapes', 'h%2Foauth%2Flogin%2FAbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket behind two slashes', 'GET /wharf//d//AbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket in capitals', 'GET /D/AbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket in a path with escapes', 'GET /d%2fAbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket in a URL with escapes', 'to=http%3A%2F%2Fh%2Fd%2FAbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket in a URL with escapes of escapes', 'http%253A%252F%252Fh%252Fu%252FAbCdEf0123456789_-xyz', '0123456789'],
    ['a ticket behind a letter that is an escape', 'GET /%64/AbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['an upload ticket behind a capital that is one', 'POST /wharf/%55/AbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['the ticket of a login with some', 'GET /oauth/l%6Fg%69n/AbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket behind an escape of an escape', 'to=h%252F%252564%252FAbCdEf0123456789_-xyz', 'AbCdEf0123456789'],
    ['a ticket in JSON', '"http:\\/\\/h\\/d\\/AbCdEf0123456789_-xyz"', 'AbCdEf0123456789'],
    ['the end of a ticket with an escape', 'GET /d/AbCdEf0123456789AbCdEf%2DhunterTwo9', 'hunterTwo9'],
    ['a signature', 'http://s3/b/k?X-Amz-Date=1&X-Amz-Signature=deadbeef00', 'deadbeef00'],
    ['a signature in small letters', 'x-amz-signature=deadbeef00', 'deadbeef00'],
    ['credentials of a link', '?X-Amz-Credential=AKIAIOSFODNN7%2Fus', 'AKIAIOSFODNN7'],
    ['a data: URI', 'uri data:image/png;base64,iVBORw0KGgoAAAANSUhEUg== end', 'iVBORw0KGgo'],
    ['a bearer token', 'Authorization: Bearer eyJhbGciOi.x.y', 'eyJhbGciOi'],
    ['a URL password', 'redis://user:hunter2@redis:6379', 'hunter2'],
    ['an access token in a query', 'resource https://a.example/x?access_token=hunter2&y=1', 'hunter2'],
    ['an Azure signature', 'https://a.blob.core.windows.net/c/f?sv=2024-11-04&sig=hunter2%3D', 'hunter2'],
    ['a Google signature', '"https://storage.googleapis.com/b/o?X-Goog-Signature=hunter2"', 'hunter2'],
    ['a key of any name', 'notes://x/y?Whatever=hunter2', 'hunter2'],
    ['a query without a name', 'https://a.example/x?hunter2', 'hunter2'],
    ['a fragment', 'https://a.example/cb#id_token=hunter2', 'hunter2'],
    ['the query of a path', 'GET /mcp?key=hunter2 refused', 'hunter2'],
    ['a token outside of any URI', 'body was: access_token=hunter2', 'hunter2'],
    ['a signature outside of any URI', 'sent sig=hunter2 to it', 'hunter2'],
    ['a token in quotes', "client_secret='hunter2'", 'hunter2'],
    ['a token in JSON', '{"access_token": "hunter2"}', 'hunter2'],
    ['a token in JSON within JSON', '{"msg":"{\\"refreshToken\\":\\"hunter2\\"}"}', 'hunter2'],
    ['a key as a header', 'x-api-key: hunter2hunter2', 'hunter2'],
    ['a password', 'password: hunter2hunter2', 'hunter2'],
    ['a credential of any scheme', 'authorization: token hunter2', 'hunter2'],
    ['a credential of any scheme in JSON', '{"authorization":"token hunter2"}', 'hunter2'],
    ['cookies', 'Cookie: theme=dark; sid=hunter2', 'hunter2'],
  ])('%s', (_, text, secret) => {
    expect(redactText(text)).not.toContain(secret);
  });

  it('the ticket of a login, in the path of a request', () => {
    const { lines, log } = capture();
    log.warn({ path: '/oauth/login/AbCdEf0123456789_-xyz' }, 'refused');
    expect(lines[0]).toContain('"path":"/oauth/login/[redacted]"');
  });

  it.each([
    'GET /u/about and /d/files',
    'GET /%66/AbCdEf0123456789_-xyz',
    '100 % of /data/AbCdEf0123456789_-xyz',
    'GET /login/github',
    'Unexpected token: } at 5',
    'the token: expired yesterday',
    'auth.apiKeys: must be a list',
    'secret: is required: at least 32 bytes',
    'upstreamAuth.tokenUrl: https://idp.example/token2',
    'this cookie: it is over',
    'needs more than one authorization: none was given',
  ])('but what only looks like it stays: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it.each([
    ['a URL password', 'redis://user:hunter2', '@redis:6379'],
    ['a ticket', '/d/hunter2', 'AbCdEf0123456789_-xyz'],
  ])('%s, also where a long text is cut within it', (_, begin, end) => {
    const before = 'x '.repeat(1000).slice(begin.length);
    expect(redactText(`${before}${begin}${end}`)).toMatch(/\[redacted\]@?… \(\d+ characters\)$/);
    expect(redactText(`${before}${begin}`)).toContain(begin);
  });

  it.each([
    'authorization',
    'Cookie',
    'set-cookie',
    'secretAccessKey',
    'password',
    'sessionToken',
    'ticket',
    'x-api-key',
  ])('the value of %s, at any depth', (key) => {
    expect(JSON.stringify(redactFields({ a: [{ [key]: 'hunter2' }], [key]: ['hunter2'] }))).not.toContain('hunter2');
  });

  it.each(['headers', 'env'])('the values in %s, whatever their names', (key) => {
    const shown = redactFields({ telemetry: { [key]: { 'x-honeycomb-team': 'hunter2' } } });
    expect(shown).toEqual({ telemetry: { [key]: { 'x-honeycomb-team': '[redacted]' } } });
  });

  it('what hangs on an error, nor the secrets in its texts', () => {
    const cause = new Error('connect redis://u:hunter2@h failed');
    const error = Object.assign(new Error('Bearer hunter2 refused', { cause }), {
      $response: { body: 'hunter2' },
      code: 'E',
    });
    const { lines, log } = capture();
    log.error({ error }, 'Failed.');
    expect(lines[0]).not.toContain('hunter2');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ error: { type: 'Error', code: 'E', cause: { type: 'Error' } } });
  });

  it('what a peer has named an error, as long as it likes', () => {
    const { lines, log } = capture();
    const of = (text: string) => Object.assign(new Error('refused'), { name: text, code: text });
    log.error({ error: of('N'.repeat(60_000)), other: of('Bearer hunter2') }, 'Failed.');
    expect(lines[0]?.length).toBeLessThan(20_000);
    expect(lines[0]).not.toContain('hunter2');
  });

  it('the bytes of a file', () => {
    expect(redactFields({ head: Buffer.from('abc') })).toEqual({ head: '[3 bytes]' });
  });

  it('what V8 quotes of a text that is not JSON', () => {
    let error: unknown;
    try {
      JSON.parse('["hunter2", pw]');
    } catch (thrown) {
      error = thrown;
    }
    expect(String(error)).toContain('hunter2');
    expect(JSON.stringify(redactFields({ err: error, more: new Error('x', { cause: error }) }))).not.toContain(
      'hunter2',
    );
  });

  it('is looked for in a time that grows with the text only', () => {
    const before = process.cpuUsage().user;
    for (const piece of [
      '/',
      'a',
      'a:',
      '?/',
      'a=',
      '://',
      'sig',
      '/d/',
      '/login/',
      'data:',
      'bearer ',
      'token',
      'token:',
      'cookie:',
      '%25',
      '/d%2f',
      '/%64/',
      '%2f%64%2f',
      '/%6c%6fgi',
    ])
      for (let round = 0; round < 100; round++) redactText(piece.repeat(2000));
    // a quadratic pattern takes minutes
    expect(process.cpuUsage().user - before).toBeLessThan(20_000_000);
  });

  it('more than a bounded part of a long or deep value', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 1000; i++) deep = { deep };
    const long = { text: 'x'.repeat(1_000_000), list: Array(100_000).fill('x'), deep };
    expect(JSON.stringify(redactFields(long)).length).toBeLessThan(5_000);
  });
});

describe('what a library prints', () => {
  it('is a line of the log, redacted and of bounded length', () => {
    const { lines, log } = capture();
    const printed: unknown[] = [];
    const print = (...words: unknown[]) => void printed.push(words);
    const printer = { debug: print, error: print, info: print, log: print, warn: print };
    takePrinted(log, printer);
    printer.warn('[WARN] %s takes no password', 'redis://:hunter2@redis');
    printer.log('x'.repeat(5000));
    expect(printed).toEqual([]);
    const [warning, long] = lines.map((line) => JSON.parse(line));
    expect(warning).toMatchObject({ level: 'warn', printed: expect.stringMatching(/^\[WARN\] .* takes no password$/) });
    expect(lines.join('')).not.toContain('hunter2');
    expect(long.printed).toHaveLength(1000);
  });
});
