import { keepCompiledCode } from './compiled-code.js';
import { keepHangUps } from './reload/hang-up.js';

/** Options of a gateway that nothing is started for. */
const PRINTS = ['-h', '--help', '-V', '--version'];

/** What is kept first stays, and a command that prints and ends has compiled little of the program. */
function startsGateway(first = '--help'): boolean {
  return first === 'stdio' || (first.startsWith('-') && !PRINTS.includes(first));
}

// Before the program proper is compiled, and so before it is imported.
if (startsGateway(process.argv[2])) {
  keepHangUps();
  keepCompiledCode(process.env);
}
await import('./main.js');
