/** What the operator has changed of a tool for clients: `servers.X.tools.Y`. */
export interface GivenWords {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

/** The tools of one server under the names and descriptions that the operator has given them. */
export class ToolNames {
  readonly #settings: ReadonlyMap<string, GivenWords>;
  /** The server's own name, by the given one. */
  readonly #given = new Map<string, string>();

  /** @param settings the operator's, by the server's own names */
  constructor(settings: Readonly<Record<string, GivenWords>>) {
    const entries = Object.entries(settings);
    this.#settings = new Map(
      entries.filter(([, { name, description }]) => name !== undefined || description !== undefined),
    );
    for (const [own, { name }] of entries) if (name !== undefined) this.#given.set(name, own);
  }

  /** True when every tool appears as its server declares it. */
  get isPlain(): boolean {
    return this.#settings.size === 0;
  }

  /** The name that clients know. Undefined for a tool whose own name has been given to another. */
  given(own: string): string | undefined {
    const name = this.#settings.get(own)?.name;
    if (name !== undefined) return name;
    const other = this.#given.get(own);
    return other === undefined || other === own ? own : undefined;
  }

  /** The server's own name of the tool that clients know by this one; undefined if no tool has it. */
  own(given: string): string | undefined {
    const own = this.#given.get(given);
    if (own !== undefined) return own;
    return this.#settings.get(given)?.name === undefined ? given : undefined;
  }

  /** What the operator has changed of a tool's declaration. */
  words(own: string): GivenWords {
    return this.#settings.get(own) ?? {};
  }
}
