import type { Identity } from '../ports/identity.js';

/** `upstreamAuth.identityHeaders`: header → what of the caller it holds; `claims.NAME` is a claim of its token. */
export type IdentityHeaders = Readonly<Record<string, string>>;

/** Bytes of one such header. */
const LONGEST = 4096;

/** Tells a server who calls. Headers of these names that a client sends never reach it. */
export function identityHeaders(headers: IdentityHeaders, identity: Identity | undefined): Record<string, string> {
  const told: Record<string, string> = {};
  if (!identity) return told;
  for (const [name, what] of Object.entries(headers)) {
    const value = factOf(what, identity);
    if (value !== undefined && value.length <= LONGEST) told[name.toLowerCase()] = value;
  }
  return told;
}

function factOf(what: string, identity: Identity): string | undefined {
  if (what === 'principal') return plain(identity.principal);
  if (what === 'key') return identity.key;
  if (what === 'groups') return listed(identity.groups);
  if (what === 'scopes') return listed(identity.scopes);
  const claim = identity.claims?.[what.slice('claims.'.length)];
  if (Array.isArray(claim)) return listed(claim.filter((one): one is string => typeof one === 'string'));
  return typeof claim === 'string' || typeof claim === 'number' || typeof claim === 'boolean'
    ? plain(String(claim))
    : undefined;
}

/** Several values; a comma inside one is encoded. */
function listed(values: readonly string[]): string {
  return values.map((value) => plain(value).replaceAll(',', '%2C')).join(',');
}

/** Percent-encodes what no header can hold, and the percent sign itself. */
function plain(text: string): string {
  // half of a surrogate pair cannot be encoded
  const whole = text.replace(/\p{Surrogate}/gu, '\ufffd');
  return whole.replace(/[^\x21-\x24\x26-\x7e]+/g, (run) => encodeURIComponent(run));
}
