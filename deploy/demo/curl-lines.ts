const HEADERS = `-H 'content-type: application/json' -H 'accept: application/json, text/event-stream'`;

/** Shell lines that call `read_media_file` through Wharf and end with the link to the picture in $LINK. */
export function curlLines(mcpUrl: string, picture: string): string {
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'curl', version: '1' } };
  const call = { name: 'read_media_file', arguments: { path: picture } };
  return `MCP=${mcpUrl}
SESSION=$(curl -sS -D - -o /dev/null "$MCP" ${HEADERS} \\
  -d ${quoted({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })} \\
  | tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')
curl -sS "$MCP" ${HEADERS} -H "mcp-session-id: $SESSION" \\
  -d ${quoted({ jsonrpc: '2.0', method: 'notifications/initialized' })}
LINK=$(curl -sS "$MCP" ${HEADERS} -H "mcp-session-id: $SESSION" \\
  -d ${quoted({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })} \\
  | grep -o 'http[^" \\\\]*/d/[A-Za-z0-9_-]*' | head -n 1)
echo "$LINK"
`;
}

/** JSON as one word of a shell. */
function quoted(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", `'\\''`)}'`;
}
