import { type Endpoint, hostLines, KEY } from './host-lines.js';

const ABOUT = `This is Wharf, a gateway in front of MCP servers. Files in their results arrive as links that open in a browser,
and tools that take files get them by upload. The servers, and your client, stay as they are.`;

/** What the page of one server says, for a terminal. */
export function connectText(endpoint: Endpoint): string {
  const { url, asksKey } = endpoint;
  const key = asksKey ? [`Callers have keys here: put yours in the place of ${KEY}.`] : [];
  const hosts = hostLines(endpoint).map(({ host, place, lines }) => `${host}. ${place}:\n\n${indented(lines)}`);
  const others = 'Any other host: give it the MCP URL as a server of the type "Streamable HTTP".';
  return paragraphs([ABOUT, `MCP URL: ${url}`, ...key, ...hosts, others]);
}

/** What the page of several servers says. @param more servers that are not listed */
export function serversText(servers: readonly Pick<Endpoint, 'name' | 'url'>[], more: number): string {
  const urls = servers.map(({ name, url }) => `  ${name}  ${url}`).join('\n');
  const others = more > 0 ? [`There are ${more} more.`] : [];
  const todo = 'Open an MCP URL in a browser: it says what to paste into which host.';
  return paragraphs([ABOUT, `MCP URLs:\n\n${urls}`, ...others, todo]);
}

const paragraphs = (all: readonly string[]) => `${all.join('\n\n')}\n`;

const indented = (lines: string) => lines.replaceAll(/^/gm, '  ');
