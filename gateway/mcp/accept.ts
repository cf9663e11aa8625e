/** True when an Accept header lists a media type (RFC 9110 §12.5.1). Without the header everything is accepted. */
export function accepts(header: string | undefined, mediaType: string): boolean {
  if (header === undefined) return true;
  const [type] = essenceOf(mediaType).split('/');
  const wanted = new Set([essenceOf(mediaType), `${type}/*`, '*/*']);
  return header.split(',').some((entry) => {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return wanted.has(range) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** The media types of MCP's own answers: a client reads a body of one of them as a message. */
export function isJsonOrEvents(mediaType: string): boolean {
  const essence = essenceOf(mediaType);
  return essence === 'application/json' || essence.endsWith('+json') || essence === 'text/event-stream';
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] as string).trim().toLowerCase();
}
