import { type AccessRules, type Decision, decide, isOpen } from '../../policy/access.js';
import type { KnownCaller } from '../../policy/callers.js';
import { type GivenWords, ToolNames } from '../../policy/tool-names.js';
import type { JsonPatch } from '../../ports/json.js';

/** The name of a tool that this caller may use, as clients know it; undefined for any other tool. */
export type Shown = (own: string) => string | undefined;

/** The tools of one server as its callers know them: some are hidden from some, and some have other names. */
export class OfferedTools {
  readonly #server: string;
  readonly #rules: AccessRules;
  readonly #names: ToolNames;
  readonly #isOpen: boolean;
  /** True when every caller sees the server's tools as it declares them. */
  readonly isPlain: boolean;

  constructor(server: string, rules: AccessRules, settings: Readonly<Record<string, GivenWords>>) {
    this.#server = server;
    this.#rules = rules;
    this.#names = new ToolNames(settings);
    this.#isOpen = isOpen(rules, server);
    this.isPlain = this.#isOpen && this.#names.isPlain;
  }

  /** Whether a caller may reach the server at all. */
  reach(identity: KnownCaller): Decision {
    return decide(this.#rules, { identity, server: this.#server });
  }

  /** The server's own name of what a client calls; undefined: this caller has no such tool. */
  called(given: string, identity: KnownCaller): string | undefined {
    const own = this.#names.own(given);
    return own !== undefined && this.#mayUse(own, identity) ? own : undefined;
  }

  /** The server's own name of what a client calls, whether or not its caller may use it. */
  ownName(given: string): string | undefined {
    return this.#names.own(given);
  }

  /** The place in the config that hides a tool from a caller. */
  ruleFor(given: string, identity: KnownCaller): string | undefined {
    const own = this.#names.own(given);
    if (own === undefined) return `servers.${this.#server}.tools, ${given}: name`;
    return decide(this.#rules, { identity, server: this.#server, tool: own }).rule;
  }

  /** Undefined when there is nothing to hide or to rename. */
  shownTo(identity: KnownCaller): Shown | undefined {
    if (this.isPlain) return undefined;
    return (own) => (this.#mayUse(own, identity) ? this.#names.given(own) : undefined);
  }

  /** The name that clients know of a tool that one of them has called. */
  nameOf(own: string): string {
    return this.#names.given(own) ?? own;
  }

  /** What the operator has changed of a tool's declaration. */
  patches(own: string): JsonPatch[] {
    const { name, description } = this.#names.words(own);
    return [
      ...(name === undefined ? [] : [{ path: ['name'], value: name }]),
      ...(description === undefined ? [] : [{ path: ['description'], value: description }]),
    ];
  }

  #mayUse(tool: string, identity: KnownCaller): boolean {
    return this.#isOpen || decide(this.#rules, { identity, server: this.#server, tool }).allowed;
  }
}
