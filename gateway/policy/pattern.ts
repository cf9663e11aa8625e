/** `*` matches any text. */
export function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 ? name.lastIndexOf(part) : name.indexOf(part, at);
    if (found < at || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return at === name.length;
}
