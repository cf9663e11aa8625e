/**
 * Whether a file fits `accept` (SEP-2356): media types are compared without parameters and case; `image/*` takes every
 * subtype; an extension is only a hint for file pickers, so a list of nothing but extensions takes anything.
 */
export function isAccepted(accept: readonly string[] | undefined, mimeType: string): boolean {
  const types = accept?.filter((entry) => entry.includes('/')).map(essence) ?? [];
  if (types.length === 0) return true;
  const type = essence(mimeType);
  return types.some((entry) => {
    if (entry === '*/*' || entry === type) return true;
    return entry.endsWith('/*') && type.startsWith(entry.slice(0, -1));
  });
}

/** `IMAGE/PNG; charset=x` as `image/png`. */
export function essence(mimeType: string): string {
  return (mimeType.split(';', 1)[0] as string).trim().toLowerCase();
}
