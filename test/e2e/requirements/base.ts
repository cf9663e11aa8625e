import { from, type Rows, specification, together } from './row.js';

/** What every dialect keeps to. */
export const BASE: Rows = together(
  from(specification('basic#resulttype'), {
    'BASE-01': 'Wharf gives every result of its own a resultType on 2026-07-28.',
  }),
  from(specification('basic#error-codes'), {
    'BASE-02': 'Wharf answers an unknown method with HTTP status 404 and code -32601 on 2026-07-28.',
    'BASE-03':
      'Wharf answers a missing client capability with HTTP status 400 and code -32021 on 2026-07-28, and names it.',
    'BASE-05': 'Wharf sends a client on 2026-07-28 no error code that the specification forbids.',
    'BASE-06': 'Wharf understands the error codes of servers on older versions.',
  }),
  from(specification('basic/transports/streamable-http#server-validation'), {
    'BASE-04': 'Wharf refuses a request whose Mcp-Method or Mcp-Name header does not agree with its body.',
  }),
  from(specification('basic/patterns/mrtr#supported-requests'), {
    'BASE-07': 'Wharf sends no requests to a client on 2026-07-28.',
    'BASE-09': ['Wharf takes a repeated call under its new id as the next round of the first one.', 'elicitation'],
  }),
  from(specification('basic/patterns/mrtr#security-considerations'), {
    'BASE-08': 'Wharf refuses a requestState that was changed, or that was made for another caller or call.',
  }),
  from('docs/explanation/asking.md', {
    'BASE-10': 'Wharf carries the requestState of a server inside its own, and gives it back to the server unchanged.',
  }),
  from(specification('server/utilities/caching#cache-scope-field'), {
    'BASE-11': 'Wharf never marks a list that it made for one client as public.',
  }),
  from(specification('server/tools#listing-tools'), {
    'BASE-12': 'Wharf shows the same client the same tools in the same order.',
  }),
  from(specification('basic/transports/streamable-http'), {
    'BASE-13': 'Wharf refuses requests from foreign origins, and shares no file across origins.',
  }),
  from('SECURITY.md', {
    'BASE-14': 'Wharf writes no content, ticket or token into a log or an error.',
    'BASE-17': 'Wharf refuses a body over its limit before it holds the body.',
  }),
  from('docs/reference/dialects.md', {
    'BASE-15': 'Wharf honours a capability in each of the places where a client can declare it.',
    'BASE-16': 'Wharf tolerates unknown parameters, and sends servers no parameter that their dialect does not define.',
  }),
);

/** Peers of different revisions. */
export const VERSIONS: Rows = from('docs/explanation/asking.md', {
  'VER-01': 'Wharf asks for a file in each of its ways on each revision that has that way.',
  'VER-02': ['Wharf translates elicitation between a client and a server of different eras.', 'cross-era'],
  'VER-03': 'Wharf continues a call at another replica when its client calls again there.',
});
