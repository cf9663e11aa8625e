/** Every member of a port, those that a part may lack too: a decorator that forgets one does not compile. */
type Whole<Port> = { [Key in keyof Required<Port>]: Port[Key] | undefined };

/** A decorated part. Its callers ask by presence what it can do, so it has no member that is undefined. */
export function partOf<Port extends object>(whole: Whole<Port>): Port {
  const present = Object.entries(whole).filter(([, member]) => member !== undefined);
  // what a part must have cannot be undefined in Whole either: it is Port[Key] there
  return Object.fromEntries(present) as Port;
}
