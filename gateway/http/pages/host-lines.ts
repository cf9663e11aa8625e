/** What a person pastes into each host to reach an MCP URL. */

/** The place of a caller's key in the lines, where callers have one. */
export const KEY = 'KEY';

/** The variable that a host reads the key from, if its config file has no place for one. */
const KEY_VARIABLE = 'WHARF_KEY';

interface HostLines {
  host: string;
  /** The end of a sentence: `Add to ~/.cursor/mcp.json`. */
  place: string;
  /** How the lines are written, for those who check them. */
  form: 'shell' | 'json' | 'toml' | 'yaml';
  lines: string;
}

export interface Endpoint {
  /** What the host calls the server: `a-z`, `0-9` and `-`. */
  name: string;
  url: string;
  /** True when callers send a key. */
  asksKey: boolean;
}

/** A list stays on one line. */
const json = (value: unknown) =>
  JSON.stringify(value, null, 2).replace(
    /\[\n([^[\]{}]*)\n *\]/g,
    (_, items: string) => `[${items.trim().replace(/,\n */g, ', ')}]`,
  );

/** Hosts in the order of the alphabet. */
export function hostLines({ name, url, asksKey }: Endpoint): HostLines[] {
  const authorization = `Bearer ${KEY}`;
  const headers = asksKey && { headers: { Authorization: authorization } };
  const header = asksKey ? ` --header "Authorization: ${authorization}"` : '';
  const remote = ['-y', 'mcp-remote', url, ...(isPlainRemote(url) ? ['--allow-http'] : [])];
  return [
    {
      host: 'Claude Code',
      place: 'Run in a terminal',
      form: 'shell',
      lines: `claude mcp add --transport http ${name} ${url}${header}`,
    },
    {
      host: 'Claude Desktop',
      place: 'Add to claude_desktop_config.json (Settings, Developer, Edit Config)',
      form: 'json',
      lines: json({
        mcpServers: {
          [name]: {
            command: 'npx',
            // a space inside an argument is lost on Windows, so the value comes from a variable
            args: asksKey ? [...remote, '--header', `Authorization:\${${KEY_VARIABLE}}`] : remote,
            ...(asksKey && { env: { [KEY_VARIABLE]: authorization } }),
          },
        },
      }),
    },
    {
      host: 'Codex',
      place: `Add to ~/.codex/config.toml${asksKey ? `, and set the variable ${KEY_VARIABLE} to your key` : ''}`,
      form: 'toml',
      lines: `[mcp_servers.${name}]\nurl = "${url}"${asksKey ? `\nbearer_token_env_var = "${KEY_VARIABLE}"` : ''}`,
    },
    {
      host: 'Cursor',
      place: 'Add to ~/.cursor/mcp.json',
      form: 'json',
      lines: json({ mcpServers: { [name]: { url, ...headers } } }),
    },
    {
      host: 'Gemini CLI',
      place: 'Run in a terminal',
      form: 'shell',
      lines: `gemini mcp add --transport http${header} ${name} ${url}`,
    },
    {
      host: 'Goose',
      place: 'Add to ~/.config/goose/config.yaml',
      form: 'yaml',
      lines: [
        'extensions:',
        `  ${name}:`,
        `    name: ${name}`,
        '    type: streamable_http',
        '    enabled: true',
        `    uri: ${url}`,
        '    timeout: 300',
        ...(asksKey ? ['    headers:', `      Authorization: ${authorization}`] : []),
      ].join('\n'),
    },
    {
      host: 'VS Code',
      place: 'Add to .vscode/mcp.json',
      form: 'json',
      lines: json({ servers: { [name]: { type: 'http', url, ...headers } } }),
    },
    {
      host: 'Zed',
      place: 'Add to ~/.config/zed/settings.json (zed: open settings file)',
      form: 'json',
      lines: json({ context_servers: { [name]: { url, ...headers } } }),
    },
  ];
}

/** mcp-remote takes http:// addresses of other machines only when told to. */
function isPlainRemote(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
