import { print, printError } from '../print.js';
import { probeHttp, probeStdio } from '../probe/run.js';
import { startFailureText } from '../report.js';
import type { ProbeAction } from './probe-command.js';

/** Runs `wharf probe`, over HTTP until a signal ends it. @returns the exit code */
export async function runProbe({ port }: ProbeAction): Promise<number> {
  const reported = (row: string) => printError(`${row}\n`);
  try {
    if (port === undefined) {
      // to a person who has run it in a terminal, where it would only wait
      printError(`A host starts this as a stdio server, and speaks MCP with it. ${ASK} Ctrl-C ends.\n`);
      await probeStdio(reported);
    } else print(probeText(await probeHttp(port, reported)));
    return 0;
  } catch (error) {
    printError(startFailureText(error, '--http'));
    return 1;
  }
}

const ASK = `Then ask its model: Call every tool of this server whose name begins with probe_, and then probe_report.
The host's row is printed here.`;

function probeText(url: string): string {
  return `Give this URL to the host: ${url}\n${ASK} Ctrl-C ends.\n`;
}
