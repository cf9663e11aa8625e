import { from, type Rows } from './row.js';

/** Who calls, and what follows from it: the promises of SECURITY.md and of the page about logging in. */
export const IDENTITY: Rows = {
  ...from('SECURITY.md', {
    'SEC-01': 'Wharf refuses every forged token with 401 and the place to log in, before the server sees a byte.',
    'SEC-02': 'Wharf never gives a server a token of a caller that was not meant for it.',
    'SEC-03': 'Wharf knows no session of another caller.',
    'SEC-04': 'Wharf refuses a message that it and its server could read in two ways.',
    'SEC-05': 'Wharf makes no address from what a request says.',
    'SEC-06': 'Wharf asks no address that a token, a challenge or the keys of an issuer name.',
    'SEC-07': 'Wharf refuses a call that needs more scopes with 403, before the server sees a byte.',
    'SEC-08': 'Wharf hides a tool under each spelling of its name.',
    'SEC-09': 'Wharf tells nothing of a server to callers that may not reach it.',
    'SEC-10': 'Wharf refuses credentials that two programs could read in two ways, and tries none as another kind.',
    'SEC-11': 'Wharf never takes a token whose key it cannot have.',
    'SEC-12': 'Wharf goes on with the keys of an issuer that is down, for a day at most.',
    'SEC-13': 'Wharf asks an issuer at most twice a minute, whatever keys tokens name.',
    'SEC-14': 'Wharf seals the tokens and logins that it keeps, and writes none into its log or audit.',
    'SEC-15': 'Wharf renews a login once, on however many replicas it is needed.',
    'SEC-16': 'Wharf takes a login only from the browser that began it and from the right authorization server.',
    'SEC-17': 'Wharf uses the login of a person for that person alone.',
    'SEC-18': "Wharf keeps a server's challenge from clients, whose credentials it does not judge.",
    'SEC-19': 'Wharf replaces headers that say who calls, whatever a client sends.',
  }),
  ...from('docs/how-to/log-in.md', {
    'SEC-20': 'Wharf does nothing of its own for a caller that the only server has not taken.',
    'SEC-21': 'Wharf gives a file to the token alone for which it was made.',
    'SEC-22': 'Wharf leaves metadata that is not about its server as it is, so that clients refuse it.',
    'SEC-23': 'Wharf asks a person again whose login has been taken back.',
    'SEC-24': 'Wharf makes itself known to authorization servers that were not told of it.',
    'SEC-25': 'Wharf proves who it is by a signed assertion where the config has a key.',
  }),
};
