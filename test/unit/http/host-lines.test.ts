import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { hostLines } from '../../../gateway/http/pages/host-lines.js';

const URL_OF_DOCS = 'https://mcp.example.com/docs/mcp';
const open = hostLines({ name: 'docs', url: URL_OF_DOCS, asksKey: false });
const keyed = hostLines({ name: 'docs', url: URL_OF_DOCS, asksKey: true });
const linesOf = (host: string, of = open) => of.find((one) => one.host === host)?.lines ?? '';

/** The words of a command, as a shell splits them. */
async function words(line: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\n' ${line}`]);
  return stdout.trimEnd().split('\n');
}

describe('what is pasted into a host', () => {
  it('is there for each of them, in the order of the alphabet', () => {
    const hosts = open.map(({ host }) => host);
    expect(hosts).toEqual([
      ...['Claude Code', 'Claude Desktop', 'Codex', 'Cursor', 'Gemini CLI', 'Goose', 'VS Code', 'Zed'],
    ]);
    expect(hosts).toEqual([...hosts].sort());
  });

  it('is JSON or YAML where the host reads that', () => {
    for (const { form, lines } of [...open, ...keyed]) if (form !== 'shell' && form !== 'toml') parse(lines);
    for (const { form, lines } of [...open, ...keyed]) if (form === 'json') JSON.parse(lines);
  });

  it('is one command with the URL as a word of its own', async () => {
    expect(await words(linesOf('Claude Code'))).toEqual([
      ...['claude', 'mcp', 'add', '--transport', 'http', 'docs', URL_OF_DOCS],
    ]);
    expect(await words(linesOf('Gemini CLI', keyed))).toEqual([
      ...['gemini', 'mcp', 'add', '--transport', 'http'],
      ...['--header', 'Authorization: Bearer KEY', 'docs', URL_OF_DOCS],
    ]);
  });

  it('has the keys that each host looks for', () => {
    expect(JSON.parse(linesOf('VS Code'))).toEqual({ servers: { docs: { type: 'http', url: URL_OF_DOCS } } });
    expect(JSON.parse(linesOf('Cursor', keyed))).toEqual({
      mcpServers: { docs: { url: URL_OF_DOCS, headers: { Authorization: 'Bearer KEY' } } },
    });
    expect(JSON.parse(linesOf('Zed', keyed))).toEqual({
      context_servers: { docs: { url: URL_OF_DOCS, headers: { Authorization: 'Bearer KEY' } } },
    });
    expect(linesOf('Codex', keyed)).toBe(
      `[mcp_servers.docs]\nurl = "${URL_OF_DOCS}"\nbearer_token_env_var = "WHARF_KEY"`,
    );
    expect(parse(linesOf('Goose', keyed))).toMatchObject({
      extensions: { docs: { type: 'streamable_http', uri: URL_OF_DOCS, headers: { Authorization: 'Bearer KEY' } } },
    });
  });

  it('asks for a key only where callers have one', () => {
    for (const { lines } of open) expect(lines).not.toMatch(/KEY|Authorization/);
    for (const { lines } of keyed) expect(lines).toMatch(/KEY/);
  });

  it('tells mcp-remote that a machine without TLS is meant, but not on loopback', () => {
    const at = (url: string) => linesOf('Claude Desktop', hostLines({ name: 'a', url, asksKey: false }));
    expect(at('http://10.0.0.7:8080/mcp')).toContain('--allow-http');
    for (const url of ['http://127.0.0.1:8080/mcp', 'http://[::1]:8080/mcp', URL_OF_DOCS])
      expect(at(url)).not.toContain('--allow-http');
  });
});
