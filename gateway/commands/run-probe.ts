import { print, printError } from '../print.js';
import { probeHttp, probeStdio } from '../probe/run.js';
import { startFailureText } from '../report.js';
import type { ProbeAction } from './probe-command.js';

/** Runs `wharf probe`, over HTTP until a signal ends it. @returns the exit code */
export async function runProbe({ port }: ProbeAction): Promise<number> {
  const reported = (row: string) => printError(`${row}\n`);
  try {
    if (port === undefined) await probeStdio(reported);
    else print(probeText(await probeHttp(port, reported)));
    return 0;
  } catch (error) {
    printError(startFailureText(error, '--http'));
    return 1;
  }
}

function probeText(url: string): string {
  return `Give this URL to the host: ${url}
Then ask its model: Call every tool of this server whose name begins with probe_, and then probe_report.
The host's row is printed here. Ctrl-C ends.
`;
}
