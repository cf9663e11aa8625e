import { describe, expect, it } from '@jest/globals';
import { create as noAudit } from '../../../adapters/audit/none.js';
import { FewLines } from '../../../gateway/few-lines.js';
import { Lately } from '../../../gateway/http/console/lately.js';
import { type CurlCall, curlCall } from '../../../gateway/http/console/trying/curl-call.js';
import { type EndpointDeps, GatedEndpoint } from '../../../gateway/http/console/trying/gated-endpoint.js';
import { shownResult } from '../../../gateway/http/console/trying/shown-result.js';
import { type Exchange, noFacts } from '../../../gateway/relay/exchange.js';
import { OpenPosts } from '../../../gateway/relay/open-posts.js';
import type { Server } from '../../../gateway/relay/server.js';
import { silentLog } from '../../helpers/silent-log.js';

describe('a result as a person looks at it', () => {
  const kinds = (content: object[]) => shownResult({ content } as never).blocks.map(({ kind }) => kind);
  const image = (data: string, mimeType = 'image/png') => ({ type: 'image', mimeType, data });

  it('shows pictures of three million characters at the most, and names the others', () => {
    const megabyte = 'A'.repeat(1_000_000);
    expect(kinds([image(megabyte), image(megabyte), image(megabyte), image('AAAA')])).toEqual([
      'picture',
      'picture',
      'picture',
      'note',
    ]);
    expect(kinds([image('A'.repeat(1_400_001)), image('AAAA')])).toEqual(['note', 'picture']);
  });

  it.each([
    ['with what is not base64, which could end the address', image('AAAA" onerror="alert(1)')],
    ['of a type that may hold a script', image('AAAA', 'image/svg+xml')],
    ['of a type with more behind it', image('AAAA', 'image/png;x')],
  ])('shows no picture %s', (_what, block) => {
    expect(kinds([block])).toEqual(['note']);
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'mcp-file://w/f_1', ' https://w.example'])(
    'makes no link of %s',
    (url) => {
      const result = { content: [], _meta: { 'dev.wharf/files': [{ uri: 'mcp-file://w/f_1', name: 'a', url }] } };
      expect(shownResult(result).files.map((file) => file.url)).toEqual([undefined]);
    },
  );
});

describe('the command that makes the same call', () => {
  const call: CurlCall = {
    ...{ url: 'http://w.example/s/mcp', asksKey: false, version: '2026-07-28', hasSessions: false },
    ...{ tool: 'echo', args: {}, headers: {}, files: [] },
  };

  it('turns no text of its arguments around in a terminal', () => {
    const command = curlCall({ ...call, args: { text: 'a\u202eb\u009b2J' } }) ?? '';
    expect(command).toContain('a\\u202eb\\u009b2J');
    expect(command).not.toMatch(/\u202e|\u009b/);
  });

  it('is not there for a message longer than a person would paste', () => {
    expect(curlCall({ ...call, args: { text: 'x'.repeat(15_000) } })).toBeDefined();
    expect(curlCall({ ...call, args: { text: 'x'.repeat(16_000) } })).toBeUndefined();
  });
});

describe('the endpoint at which the console calls tools', () => {
  const setUp = ({ isDraining = false, allowed = true }) => {
    const posts = new OpenPosts();
    const reached: string[] = [];
    const server = {
      name: 'files',
      posts,
      reach: () => {
        reached.push('files');
        return { allowed, rule: 'servers.files.access' };
      },
    } as unknown as Server;
    const metrics = { count() {}, observe() {}, gauge() {} };
    const open = { count: 0 };
    const lately = new Lately({ now: () => 1000 });
    const deps: Partial<EndpointDeps> = {
      servers: new Map([['files', server]]),
      isDraining: () => isDraining,
      clock: { ticks: () => 0 },
      ...{ log: silentLog, fewLines: new FewLines({ ticks: () => 0 }), metrics, audit: noAudit({}), open, lately },
    };
    const signal = new AbortController().signal;
    const body = Buffer.alloc(0);
    const exchange = { principal: 'ann', headers: {}, body, facts: noFacts(), signal } as unknown as Exchange;
    return { endpoint: new GatedEndpoint('files', deps as EndpointDeps), exchange, posts, open, lately, reached };
  };

  it('begins nothing while Wharf drains', async () => {
    const { endpoint, exchange, reached } = setUp({ isDraining: true });
    await expect(endpoint.post(exchange)).rejects.toMatchObject({ code: 'draining' });
    expect(reached).toEqual([]);
  });

  it('counts a call that is refused no longer than it lasts, and shows its refusal', async () => {
    const { endpoint, exchange, posts, open, lately } = setUp({ allowed: false });
    await expect(endpoint.post(exchange)).rejects.toMatchObject({ code: 'server_forbidden' });
    await posts.idle();
    expect(open.count).toBe(0);
    expect(lately.refusals).toMatchObject([{ server: 'files', principal: 'ann', code: 'server_forbidden' }]);
  });
});
