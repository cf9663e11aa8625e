import type { Advice } from './row.js';

export const OF_SERVERS = {
  upstream_unreachable: {
    why: 'Nothing answers at the URL of the server, or its command cannot be started.',
    todo: 'Run the command, or `curl` the URL, on the machine of Wharf. The log holds the cause, and so does `/readyz`.',
    facts: { reason: 'connection refused' },
  },
  upstream_timeout: {
    why: 'The server did not answer in time.',
    todo: 'Run the server by itself. An operator can raise the time-out that `data.limit` names.',
    facts: { allowed: 600_000 },
  },
  upstream_closed: {
    why: 'The connection, or the process, ended in the middle of an answer, or as soon as it was started.',
    todo: 'Look at the log of the server; over stdio its standard error is in the log of Wharf. Run its command by itself in a terminal: a missing argument, file or variable is seen there.',
  },
  upstream_refused: {
    why: 'The server answered with an HTTP error that is not part of MCP.',
    todo: 'Check the path of `servers.X.url`. After HTTP 413 set `servers.X.accepts` to what the server takes, often 100KB: clients then hear how large a file may be.',
    facts: { status: 404 },
  },
  upstream_login_needed: {
    why: 'The server has `upstreamAuth.perUser`, refuses requests without a login of the person, and Wharf has none that holds.',
    todo: 'Open the link in a browser and log in; then call again. Clients that can open pages do it by themselves.',
    facts: { server: 'crm', url: 'https://mcp.example.com/oauth/login/…' },
  },
  upstream_login_failed: {
    why: 'The authorization server that `servers.X.upstreamAuth` names gave no token for the server.',
    todo: 'The text has its own code: `invalid_client` means that it does not know Wharf by `clientId` and secret, `invalid_grant` that it does not take the caller’s token.',
    facts: { server: 'crm', reason: 'its authorization server says invalid_client' },
  },
  upstream_unauthorized: {
    why: 'The server wants credentials, and those of a client are never passed on; or, with HTTP 403, it does not answer to the host in its URL, as a server that is meant for its own machine. HTTP 407 is of a proxy on the way to it.',
    todo: 'Put credentials into `servers.X.headers`. Write the host as the server knows it, such as `localhost` in place of `127.0.0.1`, or have the server allow it: `--allowed-hosts` of `@playwright/mcp`.',
    facts: { status: 401, setting: 'servers.docs.headers' },
  },
  upstream_invalid: {
    why: 'The server sent something that is not MCP.',
    todo: 'Over stdio a server may print only messages on standard output. Report it to the author of the server.',
    facts: { reason: 'the line is not JSON' },
  },
  upstream_coding: {
    why: 'The server compresses its answer in a way that Wharf does not undo, although it was asked not to.',
    todo: 'Switch compression off in the server, or in the proxy in front of it.',
    facts: { coding: 'zstd' },
  },
  upstream_coding_limit: {
    why: 'A compressed answer grows more than `limits.codingRatio` times: a compression bomb, or a very plain text.',
    todo: 'Switch compression off in the server. An operator can raise `limits.codingRatio`.',
    facts: { allowed: 100, actual: 900 },
  },
  response_too_large: {
    why: "The server's message is too long even without the files in it, as it came or with the links that Wharf writes in their place. Plain text is not cut out.",
    todo: 'Ask the tool for less. An operator can raise `limits.response`. Where the text says that it came with fewer bytes (`came`), a link takes more of them than a small file: a larger `limits.inlineOther` or `limits.inlineImage` leaves such files as they are.',
  },
  remote_file_failed: {
    why: 'A result names a file at an address, and the fetch failed.',
    todo: 'The text says why. An address of your own network belongs in `servers.X.fetch.origins`.',
    facts: { name: 'report.pdf', detail: 'HTTP 404' },
  },
  file_not_base64: {
    why: 'A block that must hold base64 holds something else.',
    todo: 'Report it to the author of the server.',
    facts: { path: '/result/content/0/data', reason: 'it has a character that base64 lacks' },
  },
  file_too_large: {
    why: 'A file in a result is larger than the limit.',
    todo: 'An operator can raise `limits.file`, or `servers.X.limits.file`.',
    facts: { path: '/result/content/0/data' },
  },
  file_key_duplicate: {
    why: 'An object with a file has a key twice, so two programs could see two files.',
    todo: 'Report it to the author of the server.',
    facts: { path: '/result/content/0', key: 'data' },
  },
  spool_full: {
    why: 'A long string looks like a file, is not one, and is too long to be kept for putting back.',
    todo: 'An operator can raise `limits.spool`.',
    facts: { path: '/result/content/0/text' },
  },
  too_many_files: {
    why: 'One message holds more files than allowed.',
    todo: 'Ask the tool for fewer. An operator can raise `limits.files`.',
    facts: { allowed: 100, actual: 101 },
  },
  no_stream: {
    why: 'The server asks something (sampling, elicitation, roots) after the stream to the client has ended.',
    todo: 'Use a client that keeps its GET stream open.',
  },
} as const satisfies Record<string, Advice>;
