import { type Entry, entryText } from './entry.js';
import { type Endpoint, hostLines } from './host-lines.js';

const ABOUT = `This is Wharf, a gateway in front of MCP servers. Files in their results arrive as links that open in a browser,
and tools that take files get them by upload. The servers, and your client, stay as they are.`;

/** What the page of one server says, for a terminal. */
export function connectText({ entry, ...endpoint }: Omit<Endpoint, 'asksKey'> & { entry: Entry }): string {
  const { url } = endpoint;
  const text = entryText(entry);
  const hosts = hostLines({ ...endpoint, asksKey: entry === 'keys' }).map(
    ({ host, place, lines }) => `${host}. ${place}:\n\n${indented(lines)}`,
  );
  const others = 'Any other host: give it the MCP URL as a server of the type "Streamable HTTP".';
  return paragraphs([ABOUT, `MCP URL: ${url}`, ...(text === undefined ? [] : [text]), ...hosts, others]);
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
