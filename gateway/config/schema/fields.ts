import { isIP } from 'node:net';
import { z } from 'zod';
import { formatSize, formatTime, parseSize, parseTime, SIZE_PATTERN, TIME_PATTERN } from '../../policy/units.js';
import type { Address } from '../config.js';

interface Range {
  min: number;
  max: number;
}

/** Bytes, spelled `32KiB`, `100MB` or as a plain number; `range` is in bytes. */
export function size(range: Range) {
  const allowed = `a size from ${formatSize(range.min)} to ${formatSize(range.max)}, such as 32KiB, 100MB or 4096`;
  const error = `must be ${allowed}`;
  return z
    .union([z.string().regex(SIZE_PATTERN, { error }), z.number({ error }).int({ error }).nonnegative({ error })], {
      error,
    })
    .transform((value, context) =>
      within(typeof value === 'number' ? value : parseSize(value), range, allowed, context),
    );
}

/**
 * Milliseconds, spelled `500ms`, `15m`, `24h`; `range` is in milliseconds. A bare number is refused because its unit is
 * unclear.
 */
export function time(range: Range) {
  const allowed = `a time from ${formatTime(range.min)} to ${formatTime(range.max)}, such as 500ms, 30s, 15m or 24h`;
  return z
    .string({ error: `must be ${allowed}` })
    .regex(TIME_PATTERN, { error: `must be ${allowed}`, abort: true })
    .transform((value, context) => within(parseTime(value), range, allowed, context));
}

/** `~`, `~name`, `$HOME`: what a shell replaces at the beginning of a path, and a config does not. */
const FOR_A_SHELL = /^(?:~[^/\\]*|\$\w+)(?=[/\\]|$)/;

/** The path of what Wharf makes if it is missing: taken as it is, `~/files` made a folder `~` in the working directory. */
export function madePath() {
  return z
    .string()
    .min(1)
    .refine((path) => !FOR_A_SHELL.test(path), {
      error: ({ input }) => {
        const [word = ''] = FOR_A_SHELL.exec(`${input}`) ?? [];
        const variable = word.startsWith('$') ? word.slice(1) : 'HOME';
        return `begins with ${word}, which only a shell replaces; write \${${variable}}, or the whole path`;
      },
    });
}

/** A whole number without a unit. */
export function count(range: Range) {
  const error = `must be a whole number from ${range.min} to ${range.max}`;
  return z.number({ error }).int({ error }).min(range.min, { error }).max(range.max, { error });
}

/** `type/subtype` or `type/*`. Parameters are not compared, so they are not allowed. */
const MEDIA_TYPE = /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/(?:\*|[A-Za-z0-9][\w!#$&^.+-]{0,126})$/;

/** A list of media types; an empty one would accept nothing, or be mistaken for "everything". */
export function mediaTypes() {
  const error = 'must be a media type, such as image/png or image/*';
  return z
    .array(z.string().regex(MEDIA_TYPE, { error }))
    .min(1, { error: 'must not be empty; left out, any file is accepted' })
    .max(100);
}

/** The name of a key, whose caller has it, or of a user of the console. */
export function ownerName() {
  return z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"' });
}

/** A part of something, above 0 and at most 1. */
export function ratio() {
  const error = 'must be a number above 0 and at most 1, such as 0.25';
  return z.number({ error }).positive({ error }).max(1, { error });
}

/** `host:port`; an IPv6 address needs brackets. Returns undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) return undefined;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : undefined;
  // 300.1.1.1 or 127.1 is a mistyped address, but a resolver could accept it as a name.
  if (plain === undefined || (/^[\d.]+$/.test(plain) && isIP(plain) !== 4)) return undefined;
  return { host: plain.toLowerCase(), port };
}

/** The address in the spelling of a URL. */
export function formatAddress(address: Address): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** Whether a host, as `listen` names it, is this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** `HOST:PORT`, of an IPv6 host in brackets. */
export function address() {
  const error = `must be HOST:PORT, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080`;
  return z.string({ error }).transform((text, context): Address => {
    const parsed = parseAddress(text);
    if (parsed !== undefined) return parsed;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });
}

/** An http(s) URL with only scheme, host, port and perhaps a path. Returned without a trailing slash. */
export function baseUrl() {
  const error = 'must be an http:// or https:// URL without user, query and fragment, such as https://mcp.example.com';
  return z.string({ error }).transform((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const fits = url && /^https?:$/.test(url.protocol) && !/[?#\s]/.test(text) && url.username + url.password === '';
    if (fits) return url.href.replace(/(?<!\/)\/+$/, '');
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });
}

/** Scheme, host and port, as a browser serializes them. */
export function origin() {
  return z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text), {
    error: 'must be an origin such as https://app.example.com, without a path and without wildcards',
  });
}

function within(value: number | undefined, range: Range, allowed: string, context: z.RefinementCtx): number {
  if (value !== undefined && value >= range.min && value <= range.max) return value;
  context.addIssue({ code: 'custom', message: `must be ${allowed}` });
  return z.NEVER;
}
