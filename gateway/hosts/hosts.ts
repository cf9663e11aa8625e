import { LRUCache } from 'lru-cache';
import type { Means } from '../policy/means.js';
import type { LimitsOfSide } from '../policy/message-limits.js';
import { fits } from '../policy/pattern.js';
import type { ClientProfile } from '../ports/client.js';
import type { Host, HostProfile } from '../ports/host.js';
import { treatmentFor } from './treatment.js';
import { isInRange } from './version-range.js';

/** Who a client says it is. */
interface ClientName {
  name?: string | undefined;
  version?: string | undefined;
}

/** What is known about a client without its messages. */
export interface FoundHost {
  /** The shipped profile, if one fits or the operator names one. */
  profile?: HostProfile;
  /** The operator's entry. */
  entry?: ClientProfile;
  host: Host;
  dialects: readonly string[];
  elicitation?: readonly Means[];
  /** Limits that the operator has set for it. */
  limits?: LimitsOfSide;
}

/** A bridge names itself after the client: ` (via mcp-remote 0.1.29)`. */
const BRIDGE = / \(via [^()]*\)$/;

const MOST_KEPT = 1000;
/** Characters of a client's name, version and principal together, beyond which what was found is not kept. */
const LONGEST_KEPT = 500;

/** Bridges in a row that are looked behind. */
const MOST_BRIDGES = 3;

/** The hosts that are known, and what the operator says about clients. */
export class Hosts {
  readonly #shipped: readonly (readonly [HostProfile, Host])[];
  readonly #configured: readonly ClientProfile[];
  /** Of the last clients: to try a dozen patterns for each message took 2 % of a short exchange. */
  readonly #found = new LRUCache<string, FoundHost>({ max: MOST_KEPT });

  constructor(shipped: readonly HostProfile[], configured: readonly ClientProfile[]) {
    this.#shipped = shipped.map((profile) => [profile, treatmentFor(profile.behaviour)]);
    this.#configured = configured;
  }

  /** The operator's entry goes before the shipped profile, key by key. */
  find(client: ClientName, principal: string | undefined): FoundHost {
    const key = keyOf(client, principal);
    const known = key === undefined ? undefined : this.#found.get(key);
    if (known) return known;
    const found = this.#search(client, principal);
    if (key !== undefined) this.#found.set(key, found);
    return found;
  }

  #search({ name, version }: ClientName, principal: string | undefined): FoundHost {
    const entry = this.#configured.find(({ match }) => isMeant(match, { name, version }, principal));
    const own = name && withoutBridges(name);
    const shipped = this.#shipped.find(([profile]) =>
      entry?.like === undefined ? isProfile(profile, own, version) : profile.name === entry.like,
    );
    return {
      ...(shipped && { profile: shipped[0] }),
      ...(entry && { entry }),
      // a dialect may have its own use for structuredContent
      host: { ...shipped?.[1], ...(entry?.dialects.length && { structured: 'keep' }), ...entry?.host },
      dialects: entry?.dialects ?? [],
      ...(entry?.elicitation && { elicitation: entry.elicitation }),
      ...(entry?.limits && { limits: entry.limits }),
    };
  }
}

/** What a profile says, without asking who the client is. */
export function hostNamed(name: string, shipped: readonly HostProfile[]): FoundHost | undefined {
  const profile = shipped.find((one) => one.name === name);
  return profile && { profile, host: treatmentFor(profile.behaviour), dialects: [] };
}

function keyOf({ name, version }: ClientName, principal: string | undefined): string | undefined {
  const key = JSON.stringify([name, version, principal]);
  return key.length <= LONGEST_KEPT ? key : undefined;
}

function withoutBridges(name: string): string {
  let own = name;
  for (let count = 0; count < MOST_BRIDGES; count++) own = own.replace(BRIDGE, '');
  return own;
}

function isProfile({ match: { names, versions } }: HostProfile, name: string | undefined, version?: string): boolean {
  if (name === undefined || !names.some((pattern) => fits(pattern, name))) return false;
  return versions === undefined || isInRange(version, versions);
}

function isMeant(match: ClientProfile['match'], { name, version }: ClientName, principal: string | undefined): boolean {
  return (
    (match.name === undefined || (name !== undefined && fits(match.name, name))) &&
    (match.version === undefined || isInRange(version, match.version)) &&
    (match.principal === undefined || match.principal === principal)
  );
}
