/** A difference between the direct result and the one through Wharf that is meant to be, with its reason. */
export interface Expected {
  suite: string;
  via: string;
  scenario: string;
  /** Checks whose result may differ. */
  checks: string[];
  reason: string;
}

const POLLING = {
  suite: '2025-11-25',
  scenario: 'server-sse-polling',
  checks: ['server-sse-priming-event', 'server-sse-retry-field', 'server-sse-disconnect-resume'],
};

/** Keep it short: each row is something a client cannot do through Wharf. A row that no longer applies fails the run. */
export const EXPECTED: Expected[] = [
  {
    ...POLLING,
    via: 'sse',
    reason: "HTTP+SSE has no event ids, so there is no stream to resume; the call's result comes all the same",
  },
  {
    ...POLLING,
    via: 'stdio',
    reason: "stdio has no streams, so there is none to resume; the call's result comes all the same",
  },
  {
    suite: '2026-07-28',
    via: 'stdio',
    scenario: 'server-sse-multiple-streams',
    checks: ['server-sse-streams-functional'],
    reason: 'the server answers plain JSON over HTTP, Wharf a stream for stdio: one more check applies, and passes',
  },
];
