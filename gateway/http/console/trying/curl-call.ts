import { inSight } from '../../../in-sight.js';
import { NEWEST_WITH_SESSIONS } from '../../../mcp/era.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../../mcp/meta-keys.js';
import { shellWord } from '../../../policy/curl.js';
import type { JsonObject } from '../../../ports/json.js';

/** Most characters of a message that a person would paste. */
const MAX_MESSAGE = 16_000;

const CLIENT = { name: 'curl', version: '1' };

/** A file that was sent: the shell reads it from the current folder, because a handle is its owner's alone. */
export interface SentFile {
  handle: string;
  name: string;
  mimeType: string;
}

/** A call of a tool, for a person who would make it by curl. */
export interface CurlCall {
  /** The server's MCP endpoint at the public port. */
  url: string;
  /** Callers need a key or a token. */
  asksKey: boolean;
  version: string;
  hasSessions: boolean;
  tool: string;
  args: JsonObject;
  /** `Mcp-Param-*`, for a server without sessions. */
  headers: Readonly<Record<string, string>>;
  files: readonly SentFile[];
}

/** Commands of a POSIX shell that make a call; undefined where it is too long for one. */
export function curlCall(call: CurlCall): string | undefined {
  const { tool, args, version, hasSessions, files } = call;
  const _meta = { [META_VERSION]: version, [META_CAPABILITIES]: {}, [META_CLIENT]: CLIENT };
  const params = { name: tool, arguments: args, ...(!hasSessions && { _meta }) };
  const message = inSight(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  if (message.length > MAX_MESSAGE) return undefined;
  const common = [...(call.asksKey ? ['"authorization: Bearer $WHARF_KEY"'] : []), ...HEADERS];
  const url = `URL=${shellWord(call.url)}`;
  if (!hasSessions) {
    const own = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': tool, ...call.headers };
    const headers = [...common, ...Object.entries(own).map(([name, value]) => shellWord(`${name}: ${value}`))];
    return `${url}\n${sent(message, headers, files)}`;
  }
  const inSession = [...common, '"mcp-session-id: $SESSION"', shellWord(`mcp-protocol-version: ${version}`)];
  const opening = { protocolVersion: NEWEST_WITH_SESSIONS.version, capabilities: {}, clientInfo: CLIENT };
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: opening });
  const ready = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return [
    url,
    `SESSION=$(${sent(hello, common, [], ' -D - -o /dev/null')} |`,
    `  tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')`,
    sent(ready, inSession, [], ' -o /dev/null'),
    sent(message, inSession, files),
  ].join('\n');
}

const HEADERS = ["'content-type: application/json'", "'accept: application/json, text/event-stream'"];

function sent(message: string, headers: readonly string[], files: readonly SentFile[], options = ''): string {
  const curl = `curl -sS${options} "$URL"${headers.map((header) => ` \\\n  -H ${header}`).join('')}`;
  const pieces = piecesOf(message, files);
  if (pieces.length === 1) return `${curl} \\\n  -d ${shellWord(message)}`;
  return `printf %s ${pieces.join('')} |\n${curl} \\\n  --data-binary @-`;
}

/** The message as parts of one word, with each file as its bytes in base64. */
function piecesOf(message: string, files: readonly SentFile[]): string[] {
  let pieces = [{ text: message, isCommand: false }];
  for (const { handle, name, mimeType } of files) {
    const before = `"data:${mimeType};base64,`;
    const command = { text: `"$(base64 < ${shellWord(`./${name}`)} | tr -d '\\n')"`, isCommand: true };
    pieces = pieces.flatMap((piece) => {
      if (piece.isCommand) return [piece];
      const around = piece.text.split(JSON.stringify(handle));
      return around.flatMap((text, index) => {
        const isLast = index === around.length - 1;
        const own = { text: `${index > 0 ? '"' : ''}${text}${isLast ? '' : before}`, isCommand: false };
        return isLast ? [own] : [own, command];
      });
    });
  }
  return pieces.map(({ text, isCommand }) => (isCommand ? text : shellWord(text)));
}
