/** Why no test proves a row. */
export type Excuse =
  /** It asks the user by elicitation, or carries a file in the answer to one. */
  | 'elicitation'
  /** Client and server are of different eras. */
  | 'cross-era'
  | 'jwt'
  | 'quota'
  | 'optional'
  /** It binds hosts and models, which Wharf only must not stand in the way of. */
  | 'host rule'
  /** What Wharf does instead is described in ARCHITECTURE.md and docs/reference. */
  | 'superseded by the design';

/** What a row asks for, in a few words; with a reason where that is not tested. */
export type Row = string | readonly [title: string, excuse: Excuse];

export type Rows = Readonly<Record<string, Row>>;
