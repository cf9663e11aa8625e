/** A server may show each caller other tools, and other ones in each version. */
export function viewOf(protocolVersion: string, principal: string): string {
  return `${protocolVersion} ${principal}`;
}
