import type { FoundHost } from '../hosts/hosts.js';
import { decisionsFor } from '../hosts/treatment.js';
import { MESSAGE_LIMITS, TYPE_LIMITS } from '../policy/message-limits.js';
import type { ClientProfile } from '../ports/client.js';
import type { HostBehaviour, HostProfile, Known } from '../ports/host.js';
import { AMOUNTS } from './limits.js';

/** What each fact is about, in the order of the text. */
const ABOUT: Readonly<Record<keyof HostBehaviour, string>> = {
  structured: 'beside structuredContent',
  images: 'images',
  links: 'resource links',
  embeddedTexts: 'embedded texts',
  blobs: 'embedded bytes',
  errors: 'errors',
  meta: 'where _meta is shown',
  keywords: 'keywords of schemas',
  joined: 'texts with nothing between them',
  text: 'long text',
  errorText: 'long errors',
  user: 'its user',
  opensPages: 'pages that it is asked to open',
  terminal: 'commands',
};

/**
 * What a client would get, and why.
 * @param asked as on the command line
 * @param known all profiles
 * @param near the name of a known host that may be meant, if this one is not known
 */
export function explainHost(
  asked: string,
  { profile, entry, host }: FoundHost,
  known: readonly HostProfile[],
  near?: string,
): string {
  const head = profile
    ? `${asked} is ${profile.title} (profile "${profile.name}").`
    : `${asked} is not a known host: it gets what every client gets, and no images in errors.${near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`}`;
  const own = entry ? [`An entry of clients: matches it${entry.like ? `, like: ${entry.like}` : ''}.`] : [];
  const more = entry ? moreOf(entry) : [];
  const rows = Object.entries(host);
  const reasons = new Map(profile ? decisionsFor(profile.behaviour).map((one) => [one.key as string, one]) : []);
  const wharf = rows.map(([key, value]) => {
    const reason = reasons.get(key);
    const isShipped = reason && JSON.stringify(reason.value) === JSON.stringify(value);
    const because = isShipped ? `${reason.because} [${reason.source}]` : 'clients: says so';
    return `  ${key}: ${shown(value)}\n      because ${because}`;
  });
  return [
    head,
    ...own,
    '',
    ...(profile ? ['What it does with the results of tools:', ...factsOf(profile), ''] : []),
    ...(wharf.length > 0 ? ['What Wharf does for it, beyond what every client gets:', ...wharf, ''] : []),
    ...(more.length > 0 ? ['What the entry says besides:', ...more, ''] : []),
    'To change any of this, say so in the config; keys that you leave out stay as they are:',
    `  clients: [{ match: { name: ${JSON.stringify(nameOf(asked))} }, host: { structured: keep } }]`,
    `For a client that is like a known one: { match: …, like: PROFILE }, one of ${known.map(({ name }) => name).join(', ')}.`,
    '',
  ].join('\n');
}

/** What is not about the results of tools. */
function moreOf({ dialects, elicitation, limits = {} }: ClientProfile): string[] {
  const sizes = MESSAGE_LIMITS.flatMap((name) => {
    const value = limits[name];
    return value === undefined ? [] : [`  limits.${name}: ${AMOUNTS[name](value)}`];
  });
  const types = TYPE_LIMITS.flatMap((name) =>
    (limits[name] ?? []).map(({ types: some }) => `  limits.${name}: ${some.join(', ')}`),
  );
  return [
    ...(dialects.length > 0 ? [`  dialects: ${dialects.join(', ')}`] : []),
    ...(elicitation ? [`  elicitation: ${elicitation.join(', ') || 'none, its user is not asked for files'}`] : []),
    ...sizes,
    ...types,
  ];
}

function factsOf({ behaviour }: HostProfile): string[] {
  return Object.entries(ABOUT).flatMap(([key, about]) => {
    const fact: Known<unknown> | undefined = behaviour[key as keyof HostBehaviour];
    return fact ? [`  ${about}: ${shown(fact.is)} [${fact.source}]`] : [];
  });
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${shown(inner)}`)
    .join('; ');
}

/** Splits NAME@VERSION at its last @, which also begins a scope. */
export function clientOf(asked: string): { name: string; version?: string } {
  const at = asked.lastIndexOf('@');
  return at <= 0 ? { name: asked } : { name: asked.slice(0, at), version: asked.slice(at + 1) };
}

function nameOf(asked: string): string {
  return clientOf(asked).name;
}
