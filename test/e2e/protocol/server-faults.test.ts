import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, textOf } from '../../helpers/wharf.js';

/** A stdio server that prints so many lines at each call. */
const PRINTING = fileURLToPath(new URL('../../../../test/helpers/printing-stdio.fixture.mjs', import.meta.url));

describe('a stdio server that prints to standard output', () => {
  it('is named to the operator once per process, with what it printed first, and fills no log', async () => {
    const wharf = await startWharf({ servers: { prints: { command: [process.execPath, PRINTING, '500'] } } });
    const told = (level: string) => wharf.lines.filter((line) => line.level === level && 'line' in line.fields);
    for (let at = 0; at < 2; at++) {
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.call('work', {});
      expect(result).toMatchObject({ content: [{ text: 'done' }] });
    }
    const [first, second, ...more] = told('warn');
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      fields: { server: 'prints', line: expect.stringMatching(/^Listening with/), bytes: 38, pid: expect.any(Number) },
      text: expect.stringMatching(/standard output.*standard error/),
    });
    expect(second?.fields.pid).not.toBe(first?.fields.pid);
    expect(told('debug')).toHaveLength(10);
    // JSON may be a message that has gone wrong, with what a caller has sent
    const shown = told('debug').map(({ fields }) => String(fields.line).slice(0, 13));
    expect([...new Set(shown)].sort()).toEqual([
      'step 0 of of ',
      'step 2 of of ',
      'step 4 of of ',
      'step 6 of of ',
      'step 8 of of ',
      '{level, step}',
    ]);
    expect(textOf(told('debug')).length).toBeLessThan(10 * 600);
    // what is behind the first lines is counted
    const metrics = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(metrics).toContain('wharf_dropped_messages_total{server="prints",reason="no_message"} 1002');
    await wharf.stop();
  });
});

describe('an HTTP server that does not answer as one of MCP does', () => {
  const page = { contentType: 'text/html', body: `<html>\n<title>Bad  Gateway</title>${'x'.repeat(5000)}` };
  const begins = expect.stringMatching(/^<html> <title>Bad Gateway<\/title>x{200,300}…$/);

  it.each([
    ['a page', { status: 200, ...page }, { status: 200, type: 'text/html', body: begins }],
    ['a page that comes in parts', { ...page, framing: 'chunked' }, { status: 200, body: begins }],
    ['a page of a path that is not there', { status: 404, ...page }, { status: 404, body: begins }],
    ['nothing', { status: 200, body: '' }, { status: 200 }],
    [
      'that it is asked too often',
      { status: 429, headers: { 'retry-after': '30' }, contentType: 'application/json', body: '{"error":"slow down"}' },
      { status: 429, retryAfter: '30', body: '{"error":"slow down"}' },
    ],
    ['an error of a proxy', { status: 502, ...page }, { status: 502, body: begins }],
    ['an error without words', { status: 503, body: '' }, { status: 503 }],
  ] as const)('is named to the operator, once a minute: it answers %s', async (_what, answer, fields) => {
    const server = await startFakeUpstream();
    const wharf = await startWharf({ servers: { odd: { url: server.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(wharf.mcp);
    server.respond = () => answer;
    for (let id = 5; id < 25; id++) await client.post({ jsonrpc: '2.0', id, method: 'ping' });
    const warned = wharf.lines.filter(({ level }) => level === 'warn');
    expect(warned).toEqual([
      expect.objectContaining({ fields: expect.objectContaining({ server: 'odd', method: 'ping', ...fields }) }),
    ]);
    await wharf.stop();
    await server.close();
  });

  it('is not named for what MCP has', async () => {
    const server = await startFakeUpstream({ session: true });
    const wharf = await startWharf({ servers: { good: { url: server.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(wharf.mcp);
    const error = (code: number) => `{"jsonrpc":"2.0","id":5,"error":{"code":${code},"message":"no"}}`;
    for (const answer of [
      { status: 400, contentType: 'application/json', body: error(-32600) },
      { status: 200, contentType: 'text/plain', body: error(-32601) },
    ]) {
      server.queue.push(answer);
      await client.post({ jsonrpc: '2.0', id: 5, method: 'ping' });
    }
    server.queue.push({ status: 202, body: '' });
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } });
    server.queue.push({ status: 404, contentType: 'text/html', body: '<html>Cannot GET /mcp</html>' });
    await (await fetch(wharf.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } })).text();
    server.queue.push({ status: 405, contentType: 'text/html', body: '<html>Cannot DELETE /mcp</html>' });
    await client.delete();
    expect(wharf.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    await wharf.stop();
    await server.close();
  });
});
