import type { Dialect } from '../../../gateway/ports/dialect.js';
import { asks } from './binary.js';

/** SEP-1306, binary elicitation: the client uploads what its user has chosen, and answers with what it was. */
export function create(): Dialect {
  return {
    name: 'sep-1306',
    about: 'a file that a tool lacks is asked for by elicitation in `binary` mode, and uploaded by the client.',
    revision: 'as proposed in issue 1306',
    reads: ['elicitation'],
    // it covers only files that servers ask for
    asks,
  };
}
