interface Rule {
  /** Name of a server, or `*` for any. */
  from: string;
  to: string;
  allow: boolean;
}

/**
 * The rule that forbids a file of one server to be given to another, undefined when nothing does. The first rule that
 * matches decides; what no rule speaks of is allowed: both servers act for the same principal.
 * @param from the server the file came from; empty for an upload, which is the caller's own
 */
export function forbiddenBy(rules: readonly Rule[], from: string, to: string): Rule | undefined {
  if (from === '' || from === to) return undefined;
  const rule = rules.find(
    (candidate) => (candidate.from === '*' || candidate.from === from) && (candidate.to === '*' || candidate.to === to),
  );
  return rule && !rule.allow ? rule : undefined;
}
