import { z } from 'zod';
import type { Timeouts } from '../../gateway/policy/limits.js';
import type { Clock } from '../../gateway/ports/clock.js';
import type { Log } from '../../gateway/ports/log.js';
import type { OAuth } from '../../gateway/ports/oauth.js';
import { discover } from './jose/discovery.js';
import { HttpJson } from './jose/http-json.js';
import { Introduced } from './jose/introduced.js';
import { IssuerKeys, keysNow } from './jose/issuer-keys.js';

/** What OAuth is used for stands in `auth` and `upstreamAuth`; it has no settings of its own. */
export const settings = z.strictObject({});

interface JoseDeps {
  timeouts: Readonly<Pick<Timeouts, 'state'>>;
  clock: Clock;
  log: Log;
}

/** OAuth by the library jose, which is loaded only now. */
export async function create(_: z.output<typeof settings>, { clock, log }: JoseDeps): Promise<OAuth> {
  const { JoseVerifier } = await import('./jose/verifier.js');
  const { JoseClient } = await import('./jose/client.js');
  const http = new HttpJson();
  /** Those of the newest verifier. */
  let known: ReadonlyMap<string, IssuerKeys> = new Map();
  return {
    verifier: (rules) => {
      // an issuer that stays need not show its keys again: it may be down, and its tokens would be refused
      known = new Map(
        rules.issuers.map(({ issuer, jwksUri, algorithms }) => {
          const name = JSON.stringify([issuer, jwksUri, algorithms]);
          const keys = known.get(name) ?? new IssuerKeys({ issuer, jwksUri, algorithms }, { http, clock, log });
          return [name, keys];
        }),
      );
      return new JoseVerifier(rules, [...known.values()], clock);
    },
    client: (client, server, introduction) => {
      const introduced = introduction && new Introduced(introduction, http, clock);
      return new JoseClient(client, { http, clock, server, introduced });
    },
    metadata: (issuer) => discover(issuer, http),
    keys: (issuer) => keysNow(issuer, http),
    close: async () => http.close(),
  };
}
