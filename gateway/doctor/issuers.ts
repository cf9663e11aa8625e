import type { Config, GrantConfig, PerUserConfig, ServerConfig } from '../config/config.js';
import { clientGrant } from '../inspect/with-token.js';
import { countText, timeText } from '../policy/amounts.js';
import type { OAuth } from '../ports/oauth.js';
import type { Check, Finding } from './check.js';
import type { Open } from './stores.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Tokens are taken for `auth.jwt.clockTolerance` after their end; half of a usual one is worth a word. */
const MOST_SKEW_MS = 30_000;

type Metadata = Readonly<Record<string, unknown>>;

/** The authorization servers at which clients log in, and those at which Wharf gets tokens for servers. */
export function issuerChecks({ auth, servers, publicUrl }: Config, open: Open<OAuth>): Check[] {
  const jwt = auth.use === 'jwt' || auth.use === 'both' ? auth.jwt : undefined;
  const login = (jwt?.issuers ?? []).map(
    (issuer): Check => ({
      group: 'auth',
      title: hostOf(issuer.issuer),
      todo: 'Check auth.jwt.issuers: the issuer must be written as its metadata spells it, and be reached from here.',
      run: () => clientIssuer(issuer, open),
    }),
  );
  return [...login, ...servers.flatMap((server) => grantChecks(server, publicUrl, open))];
}

async function metadataOf(open: Open<OAuth>, issuer: string): Promise<Metadata> {
  return (await open()).metadata(issuer);
}

type JwtIssuer = Extract<Config['auth'], { use: 'jwt' }>['jwt']['issuers'][number];

/** What an MCP client needs of the issuer, and Wharf of its keys. */
async function clientIssuer(issuer: JwtIssuer, open: Open<OAuth>): Promise<Finding> {
  const metadata = await metadataOf(open, issuer.issuer);
  const { count, date = Date.now() } = await (await open()).keys(issuer);
  const skew = Math.abs(Date.now() - date);
  const registration = has(metadata.client_id_metadata_document_supported)
    ? 'clients name themselves by a document (CIMD)'
    : typeof metadata.registration_endpoint === 'string'
      ? 'clients register themselves (DCR)'
      : undefined;
  const text = [countText(count, 'key'), 'PKCE with S256', registration ?? 'clients must be registered by hand'].join(
    ', ',
  );
  if (!lists(metadata.code_challenge_methods_supported, 'S256')) {
    const todo = 'Switch on PKCE (S256) there, and let its metadata say so: MCP clients refuse to log in without it.';
    return { state: 'failed', text: 'its metadata does not offer PKCE with S256', todo };
  }
  if (skew > MOST_SKEW_MS) {
    const todo = 'Set both clocks by NTP, or raise auth.jwt.clockTolerance.';
    return { state: 'warning', text: `${text}; its clock differs by ${timeText(skew)}`, todo };
  }
  if (registration === undefined) {
    const todo =
      'Switch on client ID metadata documents or dynamic registration there, or give each client its client id.';
    return { state: 'warning', text, todo };
  }
  // RFC 8707 has no metadata: whether a token names its server is seen in the first token
  if (issuer.audiences.length > 0) return { state: 'ok', text: `${text}; tokens for ${issuer.audiences.join(', ')}` };
  return { state: 'ok', text: `${text}; its tokens must name the URL of the server (RFC 8707), or set audiences` };
}

function grantChecks(
  { name, upstreamAuth = {} }: ServerConfig,
  publicUrl: string | undefined,
  open: Open<OAuth>,
): Check[] {
  const { clientCredentials, tokenExchange, perUser } = upstreamAuth;
  const check = (title: string, run: (signal: AbortSignal) => Promise<Finding>): Check => ({
    group: 'auth',
    title: `${title} for ${name}`,
    todo: `Check servers.${name}.upstreamAuth.`,
    run,
  });
  return [
    ...(clientCredentials ? [check('token', () => tokenFor(clientCredentials, name, open))] : []),
    ...(tokenExchange ? [check('exchange', () => exchangeAt(tokenExchange, open))] : []),
    ...(perUser ? [check('logins', () => loginsAt(perUser, publicUrl, open))] : []),
  ];
}

async function tokenFor(grant: GrantConfig, server: string, open: Open<OAuth>): Promise<Finding> {
  const { expiresAt } = await (await open()).client(grant, server).request(clientGrant(grant));
  const lasts = expiresAt === undefined ? '' : `, which lasts ${timeText(expiresAt - Date.now())}`;
  return { state: 'ok', text: `${hostOf(grant.issuer ?? grant.tokenUrl ?? '')} gives one${lasts}` };
}

async function exchangeAt({ issuer }: GrantConfig, open: Open<OAuth>): Promise<Finding> {
  if (issuer === undefined) return { state: 'skipped', text: 'only a token of a caller shows whether tokenUrl works' };
  const { grant_types_supported: grants } = await metadataOf(open, issuer);
  if (Array.isArray(grants) && !grants.includes(GRANT))
    throw new Error(`${hostOf(issuer)} does not list token exchange`);
  return { state: 'ok', text: `${hostOf(issuer)} can be reached; only a token of a caller shows the rest` };
}

async function loginsAt(
  { issuer, clientId }: PerUserConfig,
  publicUrl: string | undefined,
  open: Open<OAuth>,
): Promise<Finding> {
  const metadata = await metadataOf(open, issuer);
  for (const name of ['authorization_endpoint', 'token_endpoint'])
    if (typeof metadata[name] !== 'string') throw new Error(`the metadata of ${hostOf(issuer)} has no ${name}`);
  if (!lists(metadata.code_challenge_methods_supported, 'S256'))
    throw new Error(`the metadata of ${hostOf(issuer)} does not offer PKCE with S256`);
  // only an https address names such a document
  const reads = has(metadata.client_id_metadata_document_supported) && publicUrl?.startsWith('https:');
  const known =
    clientId !== undefined
      ? 'Wharf is known by its clientId'
      : reads
        ? `Wharf is known by a document at ${publicUrl}`
        : typeof metadata.registration_endpoint === 'string'
          ? 'Wharf registers itself at the first login'
          : undefined;
  if (known === undefined)
    throw new Error(`${hostOf(issuer)} takes no client ID metadata document, and registers no clients: set clientId`);
  return { state: 'ok', text: `${hostOf(issuer)}: PKCE with S256; ${known}` };
}

const has = (flag: unknown): boolean => flag === true;

const lists = (list: unknown, entry: string): boolean => Array.isArray(list) && list.includes(entry);

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
