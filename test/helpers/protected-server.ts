import { type PrintingProcess, startPrinting } from './printing-process.js';

export type ProtectedServer = PrintingProcess;

/**
 * Starts a real MCP server (SDK) that takes tokens of the issuer itself: tools `whoami`, `picture`, and `delete`, which
 * needs one scope more. @param resources whose tokens it takes
 */
export function startProtectedServer(
  port: number,
  issuer: string,
  resources: readonly string[],
): Promise<ProtectedServer> {
  return startPrinting('protected-server.fixture.mjs', [String(port), issuer, ...resources]);
}
