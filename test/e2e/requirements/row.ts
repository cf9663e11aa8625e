/** Why no test proves a row. */
type Excuse =
  /** It asks the user by elicitation, or carries a file in the answer to one. */
  | 'elicitation'
  /** Client and server are of different eras. */
  | 'cross-era'
  | 'optional'
  /** It binds hosts and models, which Wharf only must not stand in the way of. */
  | 'host rule'
  /** What Wharf does instead is described in ARCHITECTURE.md and docs/reference. */
  | 'superseded by the design'
  /** The page that the row links to says what may happen. */
  | 'documented risk'
  /** Only a run of hours shows it: `npm run soak` and `npm run soak:replicas`, whose reports are in test/faults. */
  | 'long run'
  /** `npm run mutants` shows it. */
  | 'mutants';

interface Row {
  /** What the row asks of Wharf. */
  readonly sentence: string;
  /** The public text that asks for it, or the page of this repository that promises it. */
  readonly link: string;
  readonly excuse?: Excuse;
}

export type Rows = Readonly<Record<string, Row>>;

type Table = Readonly<Record<string, string | readonly [sentence: string, excuse: Excuse]>>;

/** Rows that one section of a text asks for. */
export function from(link: string, table: Table): Rows {
  return Object.fromEntries(
    Object.entries(table).map(([id, entry]) => {
      if (typeof entry === 'string') return [id, { sentence: entry, link }];
      const [sentence, excuse] = entry;
      return [id, { sentence, link, excuse }];
    }),
  );
}

/** All of them as one table, in which no id stands twice. */
export function together(...parts: readonly Rows[]): Rows {
  const all = new Map<string, Row>();
  for (const [id, row] of parts.flatMap((part) => Object.entries(part))) {
    if (all.has(id)) throw new Error(`The row ${id} is defined twice.`);
    all.set(id, row);
  }
  return Object.fromEntries(all);
}

const REPOSITORY = 'https://github.com/modelcontextprotocol/modelcontextprotocol';

/** The text of a proposal as it was in one commit. */
export function proposal(commit: string, name: string): string {
  return `${REPOSITORY}/blob/${commit}/seps/${name}.md`;
}

/** A page of a released specification. */
export function specification(page: string, version = '2026-07-28'): string {
  return `https://modelcontextprotocol.io/specification/${version}/${page}`;
}
