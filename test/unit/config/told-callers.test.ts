import { describe, expect, it } from '@jest/globals';
import { problemsOf } from './load-text.js';

const server = (rest: string) => `servers: { a: { url: "http://127.0.0.1:1/mcp", ${rest} } }\n`;
const KEYS = `keys: [{ name: ci, hash: "sha256:${'1'.repeat(64)}" }]`;
const AUTH = `publicUrl: https://mcp.example.com\nauth: { use: apiKeys, ${KEYS} }\n`;

describe('a header that tells a server who calls', () => {
  it('is one header, however it is written', async () => {
    expect(
      await problemsOf(server('upstreamAuth: { identityHeaders: { X-Who: principal, x-who: key } }') + AUTH),
    ).toMatchObject([
      { path: 'servers.a.upstreamAuth.identityHeaders.x-who', message: 'is the same header as "X-Who"' },
    ]);
  });

  it.each([
    'baggage',
    'Traceparent',
    'tracestate',
    'Last-Event-ID',
    'Mcp-Param-User',
    'Expect',
    'Keep-Alive',
    'Trailer',
  ])('is not %s, which a client may send on, or no server gets', async (header) => {
    const text = server(`upstreamAuth: { identityHeaders: { "${header}": principal } }`);
    expect(await problemsOf(text + AUTH)).toMatchObject([
      {
        path: `servers.a.upstreamAuth.identityHeaders.${header}`,
        message: expect.stringMatching(/is set by Wharf itself/),
      },
    ]);
  });
});

describe('a secret of a client that makes itself known', () => {
  it('is refused, because nothing would send it', async () => {
    const text = server('upstreamAuth: { perUser: { issuer: "https://idp.example", clientSecret: abc } }');
    expect(await problemsOf(text + AUTH)).toMatchObject([
      { path: 'servers.a.upstreamAuth.perUser.clientSecret', message: expect.stringMatching(/^needs clientId/) },
    ]);
  });
});

describe('a number of calls of a tool', () => {
  it('is refused where each login makes another caller, as every limit of callers is', async () => {
    const text = server('tools: { ocr: { limits: { requestsPerMinute: 3, file: 1MB } } }');
    expect(await problemsOf(`${text}auth: { use: passthrough }\n`)).toMatchObject([
      {
        path: 'servers.a.tools.ocr.limits.requestsPerMinute',
        message: expect.stringMatching(/becomes another one by each login/),
      },
    ]);
  });
});
