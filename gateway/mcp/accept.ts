/**
 * True when an Accept header lists a media type (RFC 9110 §12.5.1): the most specific of its ranges counts, which may exclude
 * what a wider one lists. Without the header everything is accepted.
 */
export function accepts(header: string | undefined, mediaType: string): boolean {
  if (header === undefined) return true;
  const essence = essenceOf(mediaType);
  const ranges = header.split(',').map((entry) => entry.split(';').map((part) => part.trim().toLowerCase()));
  for (const wanted of [essence, `${essence.split('/', 1)[0]}/*`, '*/*']) {
    const listed = ranges.filter(([range]) => range === wanted);
    if (listed.length > 0) return listed.some((parts) => !parts.some((part) => /^q=0(?:\.0*)?$/.test(part)));
  }
  return false;
}

/** The media types of MCP's own answers: a client reads a body of one of them as a message. */
export function isJsonOrEvents(mediaType: string): boolean {
  const essence = essenceOf(mediaType);
  return essence === 'application/json' || essence.endsWith('+json') || essence === 'text/event-stream';
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] as string).trim().toLowerCase();
}
