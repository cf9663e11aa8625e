/** A difference between the direct result and the one through Wharf that is meant to be, with its reason. */
export interface Expected {
  suite: string;
  via: string;
  scenario: string;
  /** Checks whose result may differ. */
  checks: string[];
  reason: string;
}

/** Keep it short: each row is something a client cannot do through Wharf. A row that no longer applies fails the run. */
export const EXPECTED: Expected[] = [];
