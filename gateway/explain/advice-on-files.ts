import type { Advice } from './row.js';

export const OF_FILES = {
  link_unknown: {
    why: 'No link of this spelling was made, it ended more than an hour ago, or Wharf was restarted with `state: { use: memory }`.',
    todo: 'Check that the whole link was copied. Ask for a new one: `get_file_link`, or after a restart the tool again; with Redis links survive it.',
  },
  link_expired: {
    why: 'A link works for `links.ttl`; on loopback as long as its file is kept.',
    todo: 'Ask for a new one: `get_file_link` with the handle, or the tool again. An operator can raise `links.ttl`.',
  },
  file_gone: {
    why: 'A file is removed `retention` after its last use; or something else has written to its object, of which the log has a warning.',
    todo: 'Run the tool again that gave it. An operator can raise `retention`, and sees to it that only Wharf writes to the bucket or the folder.',
  },
  file_infected: {
    why: 'The antivirus knows a signature that is in the file. The whole message is refused, because its file is not stored.',
    todo: 'Look at where the file comes from. The log names the caller, the server and the signature.',
    facts: { path: '/result/content/0/data', signature: 'Eicar-Test-Signature' },
  },
  file_type_refused: {
    why: 'The server has returned a file of a media type that the config does not let through, where no text can stand in its place.',
    todo: 'An operator can change `acceptResults`; the log names the place that refuses the file.',
    facts: { path: '/result/structuredContent/data', actual: 'application/zip', accept: ['image/*', 'text/csv'] },
  },
  file_unscannable: {
    why: 'The file, or what is packed in it, is more than clamd scans.',
    todo: 'Raise `StreamMaxLength`, `MaxFileSize` and `MaxScanSize` of clamd with `antivirus.maxSizeMiB`, or set `antivirus.larger: pass`.',
    facts: { path: 'the upload', allowed: 26_214_400, actual: 30_000_000 },
  },
  file_not_text: {
    why: 'The argument takes text (`encoding: text`), and the file holds bytes that are not UTF-8.',
    todo: 'Convert the file, or change the `encoding` of the argument in the config.',
    facts: { path: 'csv' },
  },
  range_not_satisfiable: {
    why: 'A download asks for bytes behind the end of the file.',
    todo: 'Ask for a range within the size in the text.',
    facts: { size: 5_242_880 },
  },
  fetch_forbidden: {
    why: 'A message names an address for a file at which Wharf may not look: not https, not public, or excluded.',
    todo: 'Addresses of servers: `servers.X.fetch.origins`. Addresses of clients: `fetch.allowedHosts`.',
    facts: { host: 'intranet', reason: 'it is not a public address' },
  },
  fetch_failed: {
    why: 'The host with the file answered with an error, or did not answer.',
    todo: 'Fetch the address by hand. The log holds the cause.',
    facts: { host: 'files.example.com', status: 404 },
  },
  fetch_too_large: {
    why: 'The file at the address is larger than the limit.',
    todo: 'An operator can raise `limits.file`.',
    facts: { host: 'files.example.com' },
  },
  fetch_timeout: {
    why: 'The host with the file was silent for too long, or sends too slowly.',
    todo: 'Try again. An operator can raise `timeouts.idle`.',
    facts: { host: 'files.example.com', reason: 'no bytes', allowed: 60_000 },
  },
  argument_too_large: {
    why: 'A long string is in an argument that is not known to take files.',
    todo: 'If the argument takes files, name it in the config; `wharf inspect` proposes the lines. Else raise `limits.message` and `servers.X.accepts`.',
    facts: { path: 'text' },
  },
  file_refused: {
    why: 'A handle, link or file in an argument cannot be used: unknown, of another caller, too large, of another type, or kept from this server by `flow`.',
    todo: 'The text names the argument and says what to do.',
    facts: { text: "The argument 'image' is not a file of yours; copy the handle whole." },
  },
  file_missing: {
    why: 'A tool needs a file, and the call has none. The answer holds an upload link.',
    todo: 'Upload the file by the link and call again with the handle. Clients that can ask their user do so by themselves.',
    facts: { tool: 'read_picture', argument: 'image', maxSize: 5_000_000 },
  },
  question_put_off: {
    why: 'A server asks for a file before it answers a request that is not a call, and the person has not opened the page in time.',
    todo: 'Give the person the link in the text, and make the same request again: it then gets the file.',
    facts: { text: 'The server "docs" asks: which page?' },
  },
  resource_unknown: {
    why: "A client asks for a resource by a link or a handle of Wharf's that leads to no file of its caller's, or for one of a server that has no resources.",
    todo: 'Run the tool that gave the file again, or upload it again. A file belongs to the caller that it was given to.',
    facts: { text: 'There is no such file of yours.' },
  },
  stream_refused: {
    why: 'A client asks for a resource as a stream without having declared that it takes one, or the resource is not there.',
    todo: 'docs/reference/dialects.md says what to declare. Check the URI.',
    facts: { text: 'The client takes no streams.' },
  },
  params_invalid: {
    why: 'A request that Wharf answers by itself has wrong params.',
    todo: 'The text names the member that is wrong.',
    facts: { text: '"uri" must be a string' },
  },
} as const satisfies Record<string, Advice>;
