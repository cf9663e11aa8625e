import type { KnownCaller } from '../../policy/callers.js';
import { decideFlow, type FlowRule } from '../../policy/flow.js';
import { fits } from '../../policy/pattern.js';
import type { Consents } from './consents.js';
import type { Origins } from './origins.js';

/** A file on its way to a server. */
export interface FlowQuestion {
  who: KnownCaller & { readonly principal: string };
  /** Where its handle comes from, if a server has given it. */
  from: string | undefined;
  to: string;
  file: { mimeType: string; size: number; digest: string };
}

type FlowAnswer =
  | { kind: 'allowed' }
  /** The user must be asked, or has declined. */
  | { kind: 'ask' | 'declined'; rule: FlowRule; origins: readonly string[] }
  | { kind: 'denied'; rule: FlowRule; origins: readonly string[] };

/** The rules about which file may go to which server, with what is known of its bytes. */
export class Flow {
  #rules: readonly FlowRule[];
  /** Notes where bytes come from. */
  readonly origins: Origins;
  readonly consents: Consents;

  constructor(rules: readonly FlowRule[], origins: Origins, consents: Consents) {
    this.#rules = rules;
    this.origins = origins;
    this.consents = consents;
  }

  /** False where no rule asks where bytes come from. */
  get isOn(): boolean {
    return this.#rules.length > 0;
  }

  /** Other rules count from now on. */
  put(rules: readonly FlowRule[]): void {
    this.#rules = rules;
  }

  /** Whether any rule may keep a file of anyone's from a server. */
  mayKeepFrom(server: string): boolean {
    return this.#rules.some(({ does, to }) => does !== 'allow' && (to === undefined || fits(to, server)));
  }

  /** The rule against a file that has not been read yet, as far as that can be said. */
  before(from: string | undefined, to: string, who: KnownCaller): FlowRule | undefined {
    const rule = decideFlow(this.#rules, { origins: from === undefined ? [] : [from], to, who });
    return rule?.does === 'deny' ? rule : undefined;
  }

  /** @throws GatewayError the state store's errors */
  async decide({ who, from, to, file }: FlowQuestion): Promise<FlowAnswer> {
    const { principal } = who;
    const { digest } = file;
    const given = await this.origins.of(principal, digest);
    const origins = [...new Set(from === undefined ? given.keys() : [from, ...given.keys()])];
    const rule = decideFlow(this.#rules, { origins, given, to, who, file });
    if (!rule) return { kind: 'allowed' };
    if (rule.does === 'deny') return { kind: 'denied', rule, origins };
    const said = await this.consents.said({ principal, digest, to });
    if (said === 'yes') return { kind: 'allowed' };
    return { kind: said === 'no' ? 'declined' : 'ask', rule, origins };
  }
}
