import type { Via } from './client/via.js';

/** A client scenario that is meant to fail through Wharf, with its reason. */
interface ExpectedOfClient {
  scenario: string;
  via: readonly Via[];
  reason: string;
}

const RESOURCE =
  "the suite's authorization server wants the server's own URL as `resource`; the client asks for Wharf's, as the one that it calls";

const OLD =
  "a login without metadata of the resource (MCP 2025-03-26) is looked for at the URL of the server, which is Wharf's here; its endpoints are at the server";

const PROOF =
  'a proof (DPoP) is for one request to one URL: Wharf cannot make one for its own requests to the server, and refuses the scheme';

/** Keep it short: each row is something a client cannot do through Wharf. A row that no longer applies fails the run. */
export const EXPECTED_OF_CLIENTS: readonly ExpectedOfClient[] = [
  ...['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3'].map((name) => ofRewriting(name, RESOURCE)),
  ...['basic', 'post', 'none'].map((name) => ofRewriting(`token-endpoint-auth-${name}`, RESOURCE)),
  ofRewriting('enterprise-managed-authorization', RESOURCE),
  ofRewriting('2025-03-26-oauth-metadata-backcompat', OLD),
  ofRewriting('2025-03-26-oauth-endpoint-fallback', OLD),
  ...['dpop', 'dpop-nonce'].map((name) => ({ ...ofRewriting(name, PROOF), via: ['rewrite', 'verbatim'] as const })),
];

function ofRewriting(name: string, reason: string): ExpectedOfClient {
  return { scenario: `auth/${name}`, via: ['rewrite'], reason };
}
