import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import type { ExchangeUpstream, UpstreamRequest } from '../../../gateway/ports/upstream.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { calm, POST_HEADERS, request, upstreamDeps } from './subject.js';

describe('a redirect within the origin of a Streamable HTTP server', () => {
  let fake: FakeUpstream;
  let upstream: ExchangeUpstream;

  beforeEach(async () => {
    fake = await startFakeUpstream();
    upstream = create(settings.parse({ url: fake.url }), upstreamDeps());
  });

  afterEach(async () => {
    await upstream.close();
    await fake.close();
  });

  const answerTo = async (asked: Pick<UpstreamRequest, 'method' | 'body'>): Promise<number> => {
    const { status, body } = await upstream.open({ headers: { ...POST_HEADERS }, ...asked }, calm());
    for await (const _ of body);
    return status;
  };
  const post = () => answerTo({ method: 'POST', body: request(1, 'ping') });
  const asked = () => fake.requests.map(({ method, url }) => `${method} ${url}`);

  it.each([
    [307, '/mcp/'],
    [308, '/mcp/'],
    [308, '/elsewhere?v=1'],
  ])('is remembered where it says so, or leads to the same path with a slash: %i %s', async (status, location) => {
    fake.respond = ({ url }) => (url === '/mcp' ? { status, headers: { location } } : undefined);
    expect([await post(), await post()]).toEqual([200, 200]);
    expect(asked()).toEqual(['POST /mcp', `POST ${location}`, `POST ${location}`]);
    expect(fake.requests[1]?.body.equals(fake.requests[0]?.body ?? Buffer.alloc(0))).toBe(true);
  });

  it('leads elsewhere each time where it is temporary', async () => {
    let node = 0;
    fake.respond = ({ url }) =>
      url === '/mcp' ? { status: 307, headers: { location: `/mcp?node=${++node}` } } : undefined;
    expect([await post(), await post()]).toEqual([200, 200]);
    expect(asked()).toEqual(['POST /mcp', 'POST /mcp?node=1', 'POST /mcp', 'POST /mcp?node=2']);
  });

  it.each([301, 302, 307, 308])('of a GET to a page for people leaves messages their path: %i', async (status) => {
    fake.respond = ({ method, url }) => {
      if (url === '/docs') return method === 'GET' ? { contentType: 'text/html', body: 'docs' } : { status: 404 };
      return method === 'GET' ? { status, headers: { location: '/docs' } } : undefined;
    };
    expect([await answerTo({ method: 'GET' }), await post()]).toEqual([200, 200]);
    expect(asked()).toEqual(['GET /mcp', 'GET /docs', 'POST /mcp']);
  });

  it.each([404, 410])('is forgotten once its target is gone: %i', async (gone) => {
    let version = 1;
    fake.respond = ({ url }) => {
      if (url === '/mcp') return { status: 308, headers: { location: `/v${version}` } };
      return url === `/v${version}` ? undefined : { status: gone };
    };
    await post();
    version = 2;
    expect([await post(), await post(), await post()]).toEqual([gone, 200, 200]);
    expect(asked().slice(2)).toEqual(['POST /v1', 'POST /mcp', 'POST /v2', 'POST /v2']);
  });
});
