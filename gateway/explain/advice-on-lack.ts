import type { Advice } from './row.js';

const ALL_TAKEN =
  'Everything that Wharf keeps is counted, and all of it is in use, or the share of one caller or server.';

export const OF_LACK = {
  held_full: {
    why: ALL_TAKEN,
    todo: 'Try again. An operator can raise `limits.held`, or `limits.share` if `data.share` is there.',
    facts: { allowed: 268_435_456 },
  },
  part_memory_full: {
    why: 'Too many files are being stored at a time, and none of them ended within `timeouts.queue`.',
    todo: 'Try again. An operator can raise `limits.partMemory`: each file needs one part of the store.',
    facts: { waited: 30_000 },
  },
  process_limit: {
    why: 'A stdio server runs one process for each session, and all places are taken by sessions in use.',
    todo:
      'Close clients that are not needed. An operator can raise `limits.processes`, or what the error names instead: ' +
      '`ulimit -n`, where the system allows open files for fewer processes. Or lower `timeouts.session`.',
    facts: { allowed: 32 },
  },
  connection_limit: {
    why: 'As many requests to one HTTP server are under way as allowed.',
    todo: 'Try again. An operator can raise `limits.connections`.',
    facts: { allowed: 1024 },
  },
  requests_limited: {
    why: 'The caller has as many requests, or uploads, under way as `limits.exchanges` or `limits.uploads` allows it.',
    todo: 'Wait for one of them. `wharf explain --config FILE --server S --principal P` says where the limit is set.',
    facts: { allowed: 20, actual: 21, what: 'exchanges' },
  },
  rate_limited: {
    why: 'The caller has sent as many requests within a minute as `limits.requestsPerMinute` allows it.',
    todo: 'Wait as long as `Retry-After` says. `wharf explain --config FILE --server S --principal P` says where the limit is set.',
    facts: { allowed: 600, actual: 601, retryAfter: 5 },
  },
  day_quota_used: {
    why: 'As many files, or bytes, have been stored for the caller within 24 hours as `limits.filesPerDay` or `limits.bytesPerDay` allows it.',
    todo: 'Wait as long as the text says. `wharf explain --config FILE --server S --principal P` says where the limit is set.',
    facts: { allowed: 1_000_000_000, actual: 1_200_000_000, what: 'bytes', retryAfter: 3600 },
  },
  storage_full: {
    why: 'The files that are kept for the caller would have more bytes together than `limits.storedBytes` allows it.',
    todo: 'Wait until files expire (`retention`). `wharf explain --config FILE --server S --principal P` says where the limit is set.',
    facts: { allowed: 1_000_000_000, actual: 1_200_000_000, retryAfter: 3600 },
  },
  downloads_full: {
    why: 'As many downloads are under way as allowed.',
    todo: 'Try again. An operator can raise `limits.downloads`; with S3, `links.style: presigned` takes downloads off Wharf.',
    facts: { allowed: 500 },
  },
  comparisons_full: {
    why: 'The store shows the file as changed since it was stored, as it does after a bucket was copied. Wharf reads such a file once to compare it, and as many are being read as allowed.',
    todo: 'Try again. An operator can raise `limits.comparisons`.',
    facts: { allowed: 8, waited: 30_000 },
  },
  questions_full: {
    why: 'As many calls wait for a file of a user as allowed.',
    todo: 'Try again. An operator can raise `limits.questions` or lower `timeouts.elicitation`.',
    facts: { allowed: 500 },
  },
  sockets_full: {
    why: 'All connections that clients may have are busy; or, on the admin port, as many logins as are read at one time (`data.logins`) have come by halves.',
    todo: 'Try again. For connections an operator can raise `limits.sockets` and the file descriptors of the process (`ulimit -n`).',
    facts: { allowed: 10_000 },
  },
  installation_changed: {
    why: 'A package manager has replaced or removed the files of a Wharf that runs, and it has not loaded yet what this request needs: the pages, the links of files, or the admin port.',
    todo: 'Restart Wharf; until then messages of MCP go on. If it is so after the restart too, install it again: the log names the file.',
  },
  descriptors_exhausted: {
    why: 'The system gives the process no more file descriptors.',
    todo: 'Raise `ulimit -n` (`LimitNOFILE` in systemd), or lower `limits.sockets` and `limits.processes`.',
  },
  store_unavailable: {
    why: 'The object store refuses, which `data.refused` says, or does not answer.',
    todo: '`/readyz` names the cause (such as `InvalidAccessKeyId`) and what to do, the log and `wharf doctor` in full. It is in `objects`: endpoint, credentials, bucket, or the folder and its rights. After a refusal time alone does not help.',
  },
  store_timeout: {
    why: 'One request to the object store takes longer than `timeouts.store`.',
    todo: 'Check the network and the load of the store.',
    facts: { allowed: 30_000 },
  },
  store_object_too_large: {
    why: 'The object store has a limit of its own for one object, or the process may write no file this large to the disk.',
    todo: 'Lower `limits.file` to it, so that files are refused before they are sent, or raise `ulimit -f` (`LimitFSIZE` in systemd).',
  },
  store_full: {
    why: 'The disk, or the quota of the bucket, is used up.',
    todo: 'Make room on the disk of `objects.path` or in the quota of the bucket, or lower `retention`. The log holds the cause.',
  },
  antivirus_unavailable: {
    why: 'clamd does not answer, answers something else than a verdict, or passes files that it does not scan.',
    todo: 'The log and `/readyz` hold the cause. Check `antivirus.host` and `antivirus.port`, and clamd itself. No restart of Wharf is needed.',
    facts: { reason: 'it cannot be reached' },
  },
  antivirus_full: {
    why: 'As many files are being scanned at a time as `antivirus.scans` says, and none of them ended within `timeouts.queue`.',
    todo: 'Try again. An operator can raise `antivirus.scans` and `MaxThreads` of clamd.',
    facts: { waited: 30_000 },
  },
  temp_full: {
    why: 'The disk of the folder for temporary files is full.',
    todo: 'Make room there, or set `TMPDIR` to a larger disk.',
  },
  temp_unavailable: {
    why: 'The folder for temporary files cannot be written.',
    todo: 'Check `TMPDIR` and its rights. In a container with a read-only root, mount a volume there.',
  },
  state_unavailable: {
    why: 'Redis refuses, which `data.refused` says, or does not answer within `timeouts.state`.',
    todo: '`/readyz` names the cause (such as `WRONGPASS`) and what to do, the log and `wharf doctor` in full. It is in `state.url`, or in the rights of the Redis user (STORAGE.md lists them). After a refusal time alone does not help.',
  },
  state_full: {
    why: 'As many sessions, files and links are kept as allowed, or Redis has reached its `maxmemory`.',
    todo: 'An operator can raise `state.maxKeys`, or lower `retention`; with Redis also raise its `maxmemory`.',
    facts: { allowed: 100_000, actual: 100_000 },
  },
  audit_unavailable: {
    why: 'The audit log must be written, and it cannot be.',
    todo: 'The log holds the cause. Check the disk and the file of `audit.path`; if its queue is full, the disk is too slow. `audit.required: false` lets calls go on without being recorded.',
    facts: { reason: 'the disk is full' },
  },
  body_too_slow: {
    why: 'A client sends less than `limits.leastRate` after `timeouts.grace`.',
    todo: 'Over a slow line, lower `limits.leastRate`.',
    facts: { allowed: 8192, actual: 1000 },
  },
  http_malformed: {
    why: 'Bytes arrive that are not HTTP: TLS on a plain port, a port scan, or a head that takes more than 15 s.',
    todo: 'Use `http://` for this port; TLS belongs in a proxy in front.',
    facts: { reason: 'HPE_INVALID_METHOD' },
  },
  head_too_long: {
    why: 'A client sends more than Node takes: a long token or cookies, or an address of more than 16 kB.',
    todo: 'Send less. `NODE_OPTIONS=--max-http-header-size=32768` raises it for a token that cannot be shorter.',
    facts: { allowed: 16_384 },
  },
  upstream_too_slow: {
    why: 'A server sends less than `limits.leastRate` inside a message.',
    todo: 'Look at the server. For a slow one lower `limits.leastRate`.',
    facts: { allowed: 8192, actual: 1000 },
  },
  idle_timeout: {
    why: 'No bytes came for `timeouts.idle` while some were due.',
    todo: 'Look at the server or the network. A client whose `Content-Length` is more than it sends must count bytes, not characters. An operator can raise `timeouts.idle`.',
    facts: { allowed: 60_000 },
  },
  keys_unavailable: {
    why: 'The issuer of the token has not shown its keys since Wharf started, or for a day, or shows none that can verify a token.',
    todo: 'Look at the log for what the issuer answered. `auth.jwt.issuers[].jwksUri` names the place if its metadata does not.',
    facts: { issuer: 'https://idp.example.com' },
  },
  draining: {
    why: 'Wharf has received SIGTERM and ends running exchanges.',
    todo: 'Try again: another replica, or the restarted one, answers.',
  },
  internal: {
    why: 'A fault of Wharf.',
    todo: 'The log holds the cause at level `error`. Please report it.',
  },
} as const satisfies Record<string, Advice>;
