import { contrast, countText, mostText, timeText } from '../policy/amounts.js';
import { type ErrorFacts, type ErrorRow, INTERNAL, over, shareText, tooSlow, waited } from './texts.js';

/** The fact `retryAfter` is in seconds; without it time does not help. */
function againIn({ retryAfter }: ErrorFacts): string {
  return retryAfter === undefined
    ? 'It does not fit at any time.'
    : `There is room again in ${timeText(Number(retryAfter) * 1000)}.`;
}

function ownProcesses({ allowed, actual }: ErrorFacts): string {
  return `You may have ${countText(Number(allowed), 'process', 'processes')} of stdio servers at one time here, and this would be number ${actual}.`;
}

/** `All 8 connections`, `The only connection`. */
function allOf({ allowed }: ErrorFacts, one: string): string {
  return allowed === 1 ? `The only ${one}` : `All ${countText(Number(allowed), one)}`;
}

function areOf({ allowed }: ErrorFacts): string {
  return allowed === 1 ? 'is' : 'are';
}

/** What is counted while it lasts, in the reader's words. */
function underWay({ what, tool, allowed }: ErrorFacts): string {
  const count = (one: string) => countText(Number(allowed), one);
  if (tool !== undefined) return `${count('call')} of the tool "${tool}"`;
  return count(what === 'uploads' ? 'upload' : 'request');
}

function inMinute({ tool, allowed }: ErrorFacts): string {
  if (tool === undefined) return `send ${countText(Number(allowed), 'request')} a minute here`;
  return `call the tool "${tool}" ${allowed === 1 ? 'once' : `${allowed} times`} a minute here`;
}

/** A store that refuses Wharf goes on refusing until the operator acts: a model that tries again only loses time. */
function laterOrMended({ refused }: ErrorFacts): string {
  return refused === true
    ? ': it refuses Wharf. Trying again does not help until the operator of Wharf has mended that.'
    : '. Try again later.';
}

/** What of a request's body is still due. */
function lacking({ came, announced }: ErrorFacts): string {
  return announced === undefined ? '' : `: ${came} of the ${announced} bytes that Content-Length names have come`;
}

/** The rows of `ERROR_TABLE` for resources that Wharf itself lacks, and for waits that it ends. */
export const ERRORS_OF_LACK = {
  held_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'messages under way', mostText(Number(f.allowed))) ??
      `Too many messages are under way at once: ${mostText(Number(f.allowed))} of them. Try again.`,
  },
  part_memory_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'files being stored', `waited ${timeText(Number(f.waited))}`) ??
      `Too many files are being stored at once; waited ${timeText(Number(f.waited))} for a place. Try again.`,
  },
  process_limit: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      `${
        (f.isOwnLimit === true ? ownProcesses(f) : undefined) ??
        shareText(f, `processes of the server "${f.server}"`, String(f.allowed)) ??
        `The server "${f.server}" already runs ${countText(Number(f.allowed), 'process', 'processes')}, the most allowed.`
      } Each open session has one, and all of them are in use: end one that is no longer needed (DELETE with its ` +
      'Mcp-Session-Id), or try again later.',
  },
  connection_limit: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'requests under way', String(f.allowed)) ??
      `The server "${f.server}" already has ${countText(Number(f.allowed), 'request')} under way, the most allowed. Try again later.`,
  },
  requests_limited: {
    http: 429,
    jsonRpc: -32600,
    text: (f) =>
      `You may have ${underWay(f)} under way at one time here, and this would be number ${f.actual}. ` +
      'Try again when one of them has ended.',
  },
  rate_limited: {
    http: 429,
    jsonRpc: -32600,
    text: (f) => `You may ${inMinute(f)}, and this would be number ${f.actual}. ${againIn(f)}`,
  },
  day_quota_used: {
    http: 429,
    jsonRpc: -32602,
    text: (f) => {
      const { allowed, actual } =
        f.what === 'files'
          ? { allowed: countText(Number(f.allowed), 'file'), actual: countText(Number(f.actual), 'file') }
          : contrast(Number(f.allowed), Number(f.actual));
      return `${allowed} may be stored for you within 24 hours here; with this file it would be ${actual}. ${againIn(f)}`;
    },
  },
  storage_full: {
    http: 507,
    jsonRpc: -32602,
    text: (f) => {
      const { allowed, actual } = contrast(Number(f.allowed), Number(f.actual));
      return `Your files here may have ${allowed} together; with this one they would have ${actual}. ${againIn(f)}`;
    },
  },
  downloads_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'downloads under way', String(f.allowed)) ??
      `${allOf(f, 'download')} that can be under way here at once ${areOf(f)}. Try again later.`,
  },
  comparisons_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'files being compared with what was stored', `waited ${timeText(Number(f.waited))}`) ??
      `Too many files are being compared with what was stored; waited ${timeText(Number(f.waited))} for a place. Try again.`,
  },
  questions_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'calls that wait for a user', String(f.allowed)) ??
      `${allOf(f, 'call')} that may wait for a user here at once ${f.allowed === 1 ? 'does' : 'do'}. Try again later.`,
  },
  sockets_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      f.logins === undefined
        ? (shareText(f, 'requests under way', String(f.allowed)) ??
          `${allOf(f, 'connection')} that can be open here at once ${areOf(f)} busy. Try again later.`)
        : `${f.logins} logins are read at one time, and this one came too slowly. Try again.`,
  },
  descriptors_exhausted: {
    http: 503,
    jsonRpc: INTERNAL,
    text: () => 'Wharf has no file descriptors left. Try again later.',
  },
  installation_changed: {
    http: 503,
    jsonRpc: INTERNAL,
    text: () => 'An installed file of Wharf is gone, as after an upgrade. Its operator has to restart Wharf.',
  },
  store_unavailable: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The object store is not available${laterOrMended(f)}`,
  },
  store_timeout: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The object store did not answer within ${waited(f)}. Try again later.`,
  },
  store_object_too_large: {
    http: 413,
    jsonRpc: INTERNAL,
    text: (f) => `The file is larger than the ${over(f)} in the object store.`,
  },
  store_full: { http: 507, jsonRpc: INTERNAL, text: () => 'The object store is full.' },
  antivirus_unavailable: {
    http: 503,
    jsonRpc: INTERNAL,
    text: () => 'The antivirus is not available, and a file that is not scanned is not taken here. Try again later.',
  },
  antivirus_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'files being scanned', `waited ${timeText(Number(f.waited))}`) ??
      `Too many files are being scanned at once; waited ${timeText(Number(f.waited))} for a place. Try again.`,
  },
  temp_full: { http: 507, jsonRpc: INTERNAL, text: () => 'The disk for temporary files is full.' },
  temp_unavailable: { http: 503, jsonRpc: INTERNAL, text: () => 'A temporary file cannot be written.' },
  state_unavailable: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The state store is not available${laterOrMended(f)}`,
  },
  state_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      shareText(f, 'sessions, files and links kept', String(f.allowed)) ??
      (f.actual === undefined
        ? 'The state store is full. Try again later.'
        : `The state store is full: it holds ${countText(Number(f.actual), 'session, file or link', 'sessions, files and links')}. Try again later.`),
  },
  audit_unavailable: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `This cannot be recorded in the audit log, so it is not done: ${f.reason}. Try again later.`,
  },
  body_too_slow: {
    http: 408,
    jsonRpc: -32600,
    text: (f) => `The body comes too slowly: ${tooSlow(f)}.`,
  },
  http_malformed: {
    http: 400,
    jsonRpc: -32600,
    text: (f) => `The request is not HTTP, or its head came too slowly: ${f.reason}.`,
  },
  head_too_long: {
    http: 431,
    jsonRpc: -32600,
    text: (f) =>
      `The head of the request, its address and headers together, is longer than ${countText(Number(f.allowed), 'byte')}.`,
  },
  upstream_too_slow: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" sends too slowly: ${tooSlow(f)}.`,
  },
  idle_timeout: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) =>
      `${f.server === undefined ? 'No bytes arrived' : `The server "${f.server}" sent no bytes`} for ${waited(f)}${lacking(f)}.`,
  },
  keys_unavailable: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The keys of the issuer ${f.issuer} are not available, so no token can be checked. Try again later.`,
  },
  draining: { http: 503, jsonRpc: INTERNAL, text: () => 'Wharf is shutting down. Try again.' },
  internal: { http: 500, jsonRpc: INTERNAL, text: () => 'Internal error.' },
} as const satisfies Record<string, ErrorRow>;
