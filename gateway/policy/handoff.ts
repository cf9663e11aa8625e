interface Rule {
  /** Name of a server, or `*` for any. */
  from: string;
  to: string;
  allow: boolean;
}

/**
 * The first rule that matches, if it forbids giving a file of one server to another; undefined when the handoff is
 * allowed. Without a matching rule it is: both servers act for the same principal.
 * @param from the server the file came from; empty for an upload, which is the caller's own
 */
export function forbiddenBy(rules: readonly Rule[], from: string, to: string): Rule | undefined {
  if (from === '' || from === to) return undefined;
  const rule = rules.find(
    (candidate) => (candidate.from === '*' || candidate.from === from) && (candidate.to === '*' || candidate.to === to),
  );
  return rule && !rule.allow ? rule : undefined;
}
