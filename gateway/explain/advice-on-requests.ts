import type { Advice } from './row.js';

export const OF_REQUESTS = {
  json_malformed: {
    why: 'The body of a POST, or a line over stdio, is not one JSON text.',
    todo: 'Look at what the client sends; a proxy in between may have cut it or changed its encoding.',
    facts: { reason: 'it ends too early' },
  },
  request_invalid: {
    why: 'The message is JSON, but not a JSON-RPC message, or one that two programs could read in two ways.',
    todo: 'The text names the part that is wrong. Report it to the author of the client.',
    facts: { reason: '"id" must be a string or a number' },
  },
  message_too_large: {
    why: 'The message, without the files in it, is longer than the limit.',
    todo: 'Upload large files and pass their handles. An operator can raise `limits.message`, and `servers.X.accepts` if the server takes more.',
  },
  capabilities_too_large: {
    why: 'The client declares more in `initialize` than Wharf keeps for a session.',
    todo: 'An operator can raise `limits.capabilities`.',
    facts: { allowed: 16_384, actual: 20_480 },
  },
  too_deep: {
    why: 'Arrays and objects are nested deeper than allowed.',
    todo: 'No known client needs this. An operator can raise `limits.depth`.',
    facts: { allowed: 1000 },
  },
  batch_too_long: {
    why: 'A JSON-RPC batch holds too many messages.',
    todo: 'Send several batches. An operator can raise `limits.batch`.',
    facts: { allowed: 1000 },
  },
  server_forbidden: {
    why: "The config's `servers.X.allow`, or the scope of the caller's key, does not let this caller reach the server.",
    todo: 'Ask the operator. `wharf explain --config FILE --server S --principal P` says which rule decides.',
    facts: { server: 'hr' },
  },
  tool_unknown: {
    why: 'The server has no tool of this name for this caller: the config hides it, or gives it another name.',
    todo: 'List the tools again. The operator sees with `wharf explain --config FILE --server S --tool T --principal P` which rule decides.',
    facts: { tool: 'delete_user' },
  },
  method_not_allowed: {
    why: 'The address exists, and does not take this HTTP method.',
    todo: 'Use one of the methods in the text. MCP clients need POST, GET and DELETE: a proxy in front must pass all three.',
    facts: { method: 'PUT', allow: 'POST, GET, DELETE' },
  },
  not_acceptable: {
    why: 'A GET of an MCP address asks for the stream of a session, and its `Accept` header does not list that type.',
    todo: 'Send `Accept: text/event-stream` with a GET. The one of a POST is for the server, which may refuse it: send `application/json, text/event-stream`.',
    facts: { expected: 'text/event-stream' },
  },
  unsupported_media_type: {
    why: 'The body is announced as something that this address does not take.',
    todo: 'Send the `Content-Type` that the text names.',
    facts: { expected: 'application/json' },
  },
  unsupported_coding: {
    why: 'The body is compressed in a way that Wharf does not undo.',
    todo: 'Send it without `Content-Encoding`.',
    facts: { coding: 'br' },
  },
  header_mismatch: {
    why: 'A header of MCP 2026-07-28 repeats a part of the body, and says something else.',
    todo: 'Report it to the author of the client. A proxy that rewrites headers causes it too.',
    facts: { header: 'Mcp-Method', reason: 'the body says tools/list' },
  },
  meta_missing: {
    why: 'A request of MCP 2026-07-28 lacks a member of `_meta` that this version requires.',
    todo: 'Report it to the author of the client.',
    facts: { key: 'io.modelcontextprotocol/protocolVersion' },
  },
  unauthorized: {
    why: 'The request has no API key, or one that is not in the config; with `auth: jwt` no access token, or one that does not hold: the text says why.',
    todo: 'MCP clients log in by themselves where tokens are taken. For a key, set the header in the client; an operator adds its hash to `auth.keys`: `printf %s "$KEY" | sha256sum`.',
  },
  credentials_invalid: {
    why: 'The request has two `Authorization` headers, or a token in its address, where every log would hold it.',
    todo: 'Send one `Authorization: Bearer TOKEN`. A proxy in front may add a second one.',
    facts: { reason: 'the request has more than one Authorization header' },
  },
  insufficient_scope: {
    why: 'The token is good, and lacks a scope that `auth.jwt.scopes` asks for here.',
    todo: 'MCP clients ask their user for more and try again. If the authorization server never grants the scope, change `auth.jwt.scopes`, or the rights there.',
    facts: { reason: 'the token lacks a scope of this tool', scope: 'mcp hr:write' },
  },
  login_needed: {
    why: 'With `auth: passthrough` the server decides who gets in, and it takes neither requests without a token nor this token.',
    todo: 'MCP clients log in by themselves. If one does not begin to, `curl` the address that the text names: it must answer with the metadata of the server.',
    facts: { server: 'crm', resourceMetadata: 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp' },
  },
  caller_forbidden: {
    why: 'With `auth: passthrough` the server decides what a caller may do, and this one may not do this.',
    todo: 'MCP clients ask their user for more where the server names scopes. Otherwise ask the operator of the server.',
    facts: { server: 'crm', scope: 'crm:write' },
  },
  version_unsupported: {
    why: 'The client wants a version of MCP that Wharf does not know.',
    todo: 'Update the older one of the two.',
    facts: { requested: '1.0' },
  },
  host_forbidden: {
    why: 'The `Host` header is a name that Wharf does not know as its own. This stops DNS rebinding.',
    todo:
      'Set `publicUrl`, or add the name to `allowedHosts`. A proxy must pass on the name that clients use, with the port that ' +
      '`publicUrl` has: nginx sends its own name for the server unless `proxy_set_header Host` says otherwise.',
    facts: { host: 'wharf.internal:8080' },
  },
  origin_forbidden: {
    why: "A web page of another site calls Wharf from a user's browser.",
    todo: 'If the page is yours, add its origin to `allowedOrigins`.',
    facts: { origin: 'https://app.example.com' },
  },
  navigation_refused: {
    why: 'A page shows an MCP URL in a frame, as a picture or by a form.',
    todo: 'Open the URL in a tab of its own: it shows how to connect a client.',
  },
  route_unknown: {
    why: 'The path is not one of Wharf’s. With several servers, neither is `/mcp`.',
    todo: 'Use the URL that Wharf prints when it starts: `/NAME/mcp`. Behind a proxy, check that it removes the path of `publicUrl`.',
  },
  server_unknown: {
    why: 'The first part of the path is not the name of a server in the config. Only callers that may come in are told: where keys or tokens are asked for, others get the same 401 at each name, and cannot find out which servers there are.',
    todo: 'Use the path of a server that there is, or add the server to `servers`.',
    facts: { server: 'docs', paths: ['/files/mcp', '/ocr/mcp'] },
  },
  session_required: {
    why: 'A request other than `initialize` came without a session, in a version of MCP that has sessions.',
    todo: 'Let the client initialize. A proxy must pass the header `Mcp-Session-Id` both ways.',
  },
  session_unknown: {
    why: 'The session has ended: by `timeouts.session` without a request, a restart with `state: memory`, its server, or a newer session where all places were taken.',
    todo: 'Initialize again; clients do so by themselves. With several replicas use `state: redis`, and sticky balancing for stdio servers.',
  },
  stream_taken: {
    why: 'The client opens a second GET stream in one session.',
    todo: 'Close the first one. Behind a proxy it may have ended without Wharf hearing of it: try again after `timeouts.idle`.',
  },
} as const satisfies Record<string, Advice>;
