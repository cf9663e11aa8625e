import { describe, expect, it } from '@jest/globals';
import {
  type AddressRules,
  isPublic,
  judgeAddresses,
  judgeRedirect,
  judgeUrl,
  type Standing,
  type Target,
} from '../../../gateway/policy/addresses.js';

function allowed(url: string, rules: AddressRules = {}): Target {
  const judged = judgeUrl(url, rules);
  if (judged.kind === 'refused') throw new Error(judged.reason);
  return judged.target;
}

function reason(url: string, rules: AddressRules = {}): string | undefined {
  const judged = judgeUrl(url, rules);
  return judged.kind === 'refused' ? judged.reason : undefined;
}

const NOT_PUBLIC = /not a public one/;
const NOT_HTTPS = /not https/;

describe('URLs that are never asked (2631-59, OAI-10)', () => {
  it.each<[string, RegExp]>([
    // the scheme
    ['http://files.example/x', NOT_HTTPS],
    ['ftp://files.example/x', NOT_HTTPS],
    ['file:///etc/passwd', NOT_HTTPS],
    ['data:text/plain,x', NOT_HTTPS],
    ['gopher://files.example/x', NOT_HTTPS],
    ['javascript:alert(1)', NOT_HTTPS],
    ['unix:/var/run/docker.sock', NOT_HTTPS],
    // who is asked, hidden behind what looks like another host
    ['https://user:pass@files.example/x', /user name or password/],
    ['https://user@files.example/x', /user name or password/],
    ['https://@files.example/x', /user name or password/],
    ['https://files.example@127.0.0.1/x', /user name or password/],
    ['https://files.example\\@127.0.0.1/x', /backslashes/],
    ['https:\\\\127.0.0.1/x', /backslashes/],
    ['https:files.example/x', /not a URL/],
    ['https:///files.example/x', /not a URL/],
    ['//files.example/x', /not a URL/],
    ['/x', /not a URL/],
    ['', /not a URL/],
    ['https://', /not a URL/],
    ['https://files.example:99999/', /not a URL/],
    ['https://[fe80::1%25eth0]/', /not a URL/],
    ['https://fi les.example/', /blanks/],
    [' https://files.example/', /blanks/],
    ['https://files.example/\r\nX-Evil: 1', /control/],
    ['https://127.0.0\t.1/', /control/],
    ['https://files.example/\0', /control/],
    [`https://files.example/${'a'.repeat(8192)}`, /longer than 8192/],
    [`https://${'a'.repeat(63)}.${'b.'.repeat(120)}example/`, /host name/],
    ["https://files'.example/", /host name/],
    // loopback, in every spelling
    ['https://127.0.0.1/', NOT_PUBLIC],
    ['https://127.0.0.1./', NOT_PUBLIC],
    ['https://127.1/', NOT_PUBLIC],
    ['https://2130706433/', NOT_PUBLIC],
    ['https://0x7f000001/', NOT_PUBLIC],
    ['https://0x7f.0.0.1/', NOT_PUBLIC],
    ['https://017700000001/', NOT_PUBLIC],
    ['https://0177.0.0.01/', NOT_PUBLIC],
    ['https://%31%32%37.0.0.1/', NOT_PUBLIC],
    ['https://127。0。0。1/', NOT_PUBLIC],
    ['https://１２７.0.0.1/', NOT_PUBLIC],
    ['https://①②⑦.⓪.⓪.①/', NOT_PUBLIC],
    ['https://127.0.0.1:443#@files.example/', NOT_PUBLIC],
    ['https://[::1]/', NOT_PUBLIC],
    ['https://[0:0:0:0:0:0:0:1]/', NOT_PUBLIC],
    ['https://[::ffff:127.0.0.1]/', NOT_PUBLIC],
    ['https://[::127.0.0.1]/', NOT_PUBLIC],
    ['https://0/', NOT_PUBLIC],
    ['https://0.0.0.0/', NOT_PUBLIC],
    ['https://[::]/', NOT_PUBLIC],
    // inside, and the metadata services of clouds
    ['https://10.0.0.1/', NOT_PUBLIC],
    ['https://192.168.1.1/', NOT_PUBLIC],
    ['https://169.254.169.254/latest/meta-data/', NOT_PUBLIC],
    ['https://2852039166/', NOT_PUBLIC],
    ['https://100.100.100.200/', NOT_PUBLIC],
    ['https://[fd00:ec2::254]/', NOT_PUBLIC],
    ['https://[fe80::1]/', NOT_PUBLIC],
    ['https://[64:ff9b::10.0.0.1]/', NOT_PUBLIC],
    ['https://[2002:a00:1::]/', NOT_PUBLIC],
  ])('%j', (url, expected) => {
    expect(reason(url)).toMatch(expected);
  });

  it('no reason holds the path or the query (OAI-09)', () => {
    for (const host of ['127.0.0.1', 'user@files.example', 'files.example']) {
      const judged = judgeUrl(`http://${host}/s3cret-path?sig=s3cret`, {});
      expect(judged.kind).toBe('refused');
      expect(JSON.stringify(judged)).not.toContain('s3cret');
    }
  });
});

describe('URLs that may be asked', () => {
  it('are taken apart', () => {
    expect(allowed('https://Files.Example/a/b?c=d#e')).toEqual({
      secure: true,
      host: 'files.example',
      literal: false,
      port: 443,
      authority: 'files.example',
      path: '/a/b?c=d',
      standing: 'public',
      isOwnPort: false,
    });
    expect(allowed('HTTPS://files.example.:8443')).toMatchObject({
      host: 'files.example',
      port: 8443,
      authority: 'files.example:8443',
      path: '/',
    });
    expect(allowed('https://[2606:4700::1111]:8443/x')).toMatchObject({
      host: '2606:4700::1111',
      literal: true,
      authority: '[2606:4700::1111]:8443',
    });
    expect(allowed('https://8.8.8.8/')).toMatchObject({ literal: true, standing: 'public' });
  });

  it('localhost is a name like another here: its addresses are what is judged', () => {
    for (const url of ['https://localhost/', 'https://localhost./', 'https://ⓛocalhost/']) {
      const target = allowed(url);
      expect([target.host, target.standing]).toEqual(['localhost', 'public']);
      expect(judgeAddresses(target, ['127.0.0.1'])).toMatchObject({ kind: 'refused' });
    }
  });

  it.each([
    ['/a%2Fb?a=b%2Fc', '/a%2Fb?a=b%2Fc'],
    ["/it's?x='y'&sig=%2b+%2B", "/it's?x='y'&sig=%2b+%2B"],
    ['/a/../b/./c', '/a/../b/./c'],
    ['//twice//x', '//twice//x'],
    ['?only=query', '/?only=query'],
    ['/with#fragment', '/with'],
    // not legal in a URL, so it cannot have been signed so
    ['/ä?ö=ü', '/%C3%A4?%C3%B6=%C3%BC'],
    ['/<x>', '/%3Cx%3E'],
  ])('path and query stay as they were written: %j (1306-18)', (written, sent) => {
    expect(allowed(`https://files.example${written}`).path).toBe(sent);
  });
});

describe('allowed hosts (OAI-18)', () => {
  const rules = { allowedHosts: ['files.example', 'other.example:8443', '*.blobs.example', '8.8.8.8'] };

  it.each([
    'https://files.example/x',
    'https://FILES.example./x',
    'https://files.example:443/x',
    'https://other.example:8443/x',
    'https://a.blobs.example/x',
    'https://a.b.blobs.example/x',
    'https://8.8.8.8/x',
  ])('%s is one', (url) => {
    expect(reason(url, rules)).toBeUndefined();
  });

  it.each([
    'https://files.example:8443/x',
    'https://other.example/x',
    'https://blobs.example/x',
    'https://xblobs.example/x',
    'https://a.blobs.example:8443/x',
    'https://files.example.evil.example/x',
    'https://evilfiles.example/x',
    'https://8.8.4.4/x',
  ])('%s is none', (url) => {
    expect(reason(url, rules)).toMatch(/not among the allowed/);
  });

  it('an empty list allows no host, a listed address must be public all the same', () => {
    expect(reason('https://files.example/', { allowedHosts: [] })).toMatch(/not among/);
    expect(reason('https://10.0.0.1/', { allowedHosts: ['10.0.0.1'] })).toMatch(NOT_PUBLIC);
    expect(judgeAddresses(allowed('https://files.example/', rules), ['10.0.0.1'])).toBeDefined();
  });

  it('the own host needs no entry (2532-56)', () => {
    expect(reason('https://mcp.example/x', { allowedHosts: [], ownOrigin: 'https://mcp.example' })).toBeUndefined();
  });
});

describe('the own origin', () => {
  const own =
    (ownOrigin: string, more: AddressRules = {}) =>
    (url: string) => {
      const judged = judgeUrl(url, { ownOrigin, ...more });
      return judged.kind === 'refused' ? judged.reason : judged.target.standing;
    };

  it('may be asked over http where the MCP connection is http', () => {
    const judge = own('http://10.0.0.5:3001');
    expect(judge('http://10.0.0.5:3001/x')).toBe('own');
    expect(judge('http://10.0.0.5:9000/x')).toMatch(NOT_HTTPS);
    expect(judge('https://10.0.0.5/x')).toMatch(NOT_PUBLIC);
    expect(judge('http://10.0.0.6:3001/x')).toMatch(NOT_HTTPS);
    expect(judge('https://10.0.0.6/x')).toMatch(NOT_PUBLIC);
    expect(judge('http://127.0.0.1:3001/x')).toMatch(NOT_HTTPS);
    expect(judge('https://public.example/x')).toBe('public');
    expect(judge('http://public.example/x')).toMatch(NOT_HTTPS);
  });

  it('may not be asked over http where the MCP connection is https', () => {
    const judge = own('https://mcp.example');
    expect(judge('http://mcp.example/x')).toMatch(NOT_HTTPS);
    expect(judge('https://mcp.example/x')).toBe('own');
    expect(judge('https://mcp.example:8443/x')).toBe('public');
    expect(judge('https://files.mcp.example/x')).toBe('public');
  });

  it.each(['http://localhost:3001', 'http://127.0.0.1:3001', 'http://[::1]:3001'])(
    'where the MCP connection is %s, no other port of this machine may be asked',
    (origin) => {
      const judge = own(origin);
      expect(judge('http://localhost:3001/x')).toBe('loopback');
      expect(judge('http://127.0.0.1:3001/x')).toBe('loopback');
      expect(judge('http://localhost:9000/x')).toMatch(NOT_HTTPS);
      expect(judge('http://127.0.0.1:9000/x')).toMatch(NOT_HTTPS);
      expect(judge('http://127.0.0.2:3001/x')).toMatch(NOT_HTTPS);
      expect(judge('https://[::1]:9000/x')).toMatch(NOT_PUBLIC);
      expect(judge('https://127.0.0.1:3001/x')).toMatch(NOT_PUBLIC);
      expect(judge('http://10.0.0.1/x')).toMatch(NOT_HTTPS);
      expect(judge('https://169.254.169.254/x')).toMatch(NOT_PUBLIC);
      expect(judge('http://localtest.example/x')).toMatch(NOT_HTTPS);
    },
  );

  it('is joined by those that the operator names, whole', () => {
    const judge = own('http://127.0.0.1:3001', {
      origins: ['http://minio:9000', 'https://10.0.0.7', 'http://127.0.0.1:9001'],
    });
    expect(judge('http://minio:9000/x')).toBe('own');
    expect(judge('https://10.0.0.7/x')).toBe('own');
    expect(judge('http://localhost:9001/x')).toBe('loopback');
    expect(judge('http://minio:9001/x')).toMatch(NOT_HTTPS);
    expect(judge('http://10.0.0.7/x')).toMatch(NOT_HTTPS);
    expect(judge('https://10.0.0.7:8443/x')).toMatch(NOT_PUBLIC);
  });

  it('is never one of Wharf’s own ports, whatever names it', () => {
    const rules = { origins: ['http://127.0.0.1:9090', 'http://inside.example:9090'], ownPorts: [8080, 9090] };
    const judge = own('http://127.0.0.1:3001', rules);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.9.9.9'])
      for (const scheme of ['http', 'https'])
        expect(judge(`${scheme}://${host}:9090/metrics`)).toMatch(/of Wharf itself|not https/);
    expect(judge('http://127.0.0.1:9090/metrics')).toMatch(/of Wharf itself/);
    const target = allowed('http://inside.example:9090/x', rules);
    expect(judgeAddresses(target, ['10.0.0.9'])).toBeUndefined();
    expect(judgeAddresses(target, ['10.0.0.9', '127.0.0.1'])?.kind).toBe('refused');
  });

  it('gives nothing when it is not a URL', () => {
    expect(own('mcp.example')('http://mcp.example/')).toMatch(NOT_HTTPS);
    expect(own('')('https://10.0.0.1/')).toMatch(NOT_PUBLIC);
  });
});

describe('addresses', () => {
  const PUBLIC = ['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001:80b::200e'];

  it.each(PUBLIC)('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.31.196.1',
    '192.52.193.1',
    '192.88.99.1',
    '192.168.0.1',
    '192.175.48.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:808:808::1',
    '2620:4f:8000::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'ff0e::1',
    // ISATAP: IPv4 behind a global prefix
    '2a00:1450:0:1:0:5efe:7f00:1',
    '2a00:1450:0:1:200:5efe:a00:1',
    '2606:4700::1111%eth0',
    'not an address',
    '',
  ])('%j is not', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  it('every address of an answer counts, and the refusal does not tell which one it was', () => {
    const target = allowed('https://files.example/x');
    expect(judgeAddresses(target, PUBLIC)).toBeUndefined();
    for (const at of [0, 2, PUBLIC.length]) {
      const refusal = judgeAddresses(target, PUBLIC.toSpliced(at, 0, '10.1.2.3'));
      expect(refusal).toMatchObject({ kind: 'refused', host: 'files.example' });
      expect(refusal?.reason).not.toContain('10.1.2.3');
      expect(refusal?.detail).toContain('10.1.2.3');
    }
  });

  it.each<[Standing, string, AddressRules, string[], string[]]>([
    [
      'own',
      'https://mcp.example/x',
      { ownOrigin: 'https://mcp.example' },
      ['10.0.0.1', '127.0.0.1', '::1', 'fd12::1', '100.64.0.1', '8.8.8.8', '::ffff:10.0.0.1'],
      // a name that suddenly means the metadata service
      ['169.254.169.254', 'fe80::1', '0.0.0.0', '224.0.0.1', '255.255.255.255', '64:ff9b::a00:1'],
    ],
    [
      'loopback',
      'http://localhost:3001/x',
      { ownOrigin: 'http://127.0.0.1:3001' },
      ['127.0.0.1', '::1'],
      ['10.0.0.1', '8.8.8.8', '0.0.0.0', '169.254.169.254'],
    ],
  ])('what an address of %s standing may be', (standing, url, rules, good, bad) => {
    const target = allowed(url, rules);
    expect(target.standing).toBe(standing);
    for (const address of good) expect([address, judgeAddresses(target, [address])]).toEqual([address, undefined]);
    for (const address of bad) expect([address, judgeAddresses(target, [address])?.kind]).toEqual([address, 'refused']);
  });
});

describe('redirects', () => {
  const judge = (location: string, from = 'https://files.example/a/b?c', rules: AddressRules = {}) => {
    const judged = judgeRedirect(location, allowed(from, rules), rules);
    return judged.kind === 'refused' ? judged.reason : judged.target;
  };

  it.each([
    ['/x?y', '/x?y'],
    ['x', '/a/x'],
    ['?y', '/a/b?y'],
    ['../x', '/x'],
    ["https://files.example/it's?a='b'", "/it's?a='b'"],
    ['https://files.example:443/x', '/x'],
    ['//files.example/x', '/x'],
  ])('%j stays on the host', (location, path) => {
    expect(judge(location)).toMatchObject({ host: 'files.example', path });
  });

  it.each([
    ['https://evil.example/x', /another host/],
    ['//evil.example/x', /another host/],
    ['https://a.files.example/x', /another host/],
    ['https://files.example:8443/x', /another port/],
    ['//files.example:22/x', /another port/],
    ['http://files.example/x', NOT_HTTPS],
    ['https://127.0.0.1/x', NOT_PUBLIC],
    ['//127.0.0.1/x', NOT_PUBLIC],
    ['https://files.example@evil.example/', /user name/],
    ['https:\\\\evil.example/', /not a URL/],
    ['file:///etc/passwd', NOT_HTTPS],
    ['data:,x', NOT_HTTPS],
    ['https://', /not a URL/],
    ['/x\ty', /not a URL/],
  ])('%j is refused', (location, expected) => {
    expect(judge(location)).toMatch(expected);
  });

  it('never leaves https, not even where the own host may be asked over http', () => {
    const rules = { ownOrigin: 'http://mcp.example' };
    expect(judge('http://mcp.example/x', 'https://mcp.example/', rules)).toMatch(/from https to http/);
  });

  it('is not another service of the same machine’s either', () => {
    const rules = { ownOrigin: 'http://127.0.0.1:3001' };
    expect(judge('http://127.0.0.1:6379/x', 'http://127.0.0.1:3001/', rules)).toMatch(/another port/);
    expect(judge('http://localhost:3001/x', 'http://127.0.0.1:3001/', rules)).toMatch(/another host/);
    expect(judge('https://127.0.0.1:3001/x', 'http://127.0.0.1:3001/', rules)).toMatch(NOT_PUBLIC);
    expect(judge('http://127.0.0.1:3001/x', 'http://127.0.0.1:3001/', rules)).toMatchObject({ path: '/x' });
  });
});
