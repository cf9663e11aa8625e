/** Cache key of a server's tools, which may differ per caller and per version. */
export function viewOf(protocolVersion: string, principal: string): string {
  return `${protocolVersion} ${principal}`;
}
