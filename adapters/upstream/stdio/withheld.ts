/** Words that may be the name of a variable. Every shell sets `_`, which is also a name in what Python prints of its code. */
const NAME = /\b[A-Za-z_]\w+\b/g;

/** What programs print that cannot reach the network, or do not trust what answers there: Node, npm, uv, pip, curl. */
const OFFLINE =
  /\bE(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH)\b|self.signed|issuer.cert|certificate|dns error|resolve host|name resolution/i;

/** Variables that lead through a company's network; none of them is named where one is missing. */
const TO_NETWORK = /^(?:(?:https?|all)_proxy|node_extra_ca_certs|ssl_cert_file|npm_config_registry)$/i;

/**
 * What to do about a variable that a server misses: it stood in its environment before Wharf was in front of it, and so in
 * that of Wharf.
 * @param text what the server has said last; short
 * @param withheld names of the variables that Wharf has and the server does not get
 * @returns an empty text where no such name is in it, and the network is there
 */
export function missedVariable(text: string, withheld: ReadonlySet<string>): string {
  const name =
    text.match(NAME)?.find((word) => withheld.has(word)) ??
    (OFFLINE.test(text) ? [...withheld].find((one) => TO_NETWORK.test(one)) : undefined);
  if (name === undefined) return '';
  return ` (Wharf has ${name}, and does not pass it on: that takes --env ${name}, or "env" of the server in the config)`;
}
