/** What the processes of a soak tell the one that runs it. */

/** One thing that an honest caller did. */
export interface HonestCall {
  type: 'honest';
  /** Such as `http: image, 3 MB`. */
  kind: string;
  ms: number;
  /** Why it failed, where it did. */
  error?: string;
}

/** How often a hostile peer met an outcome since it last said so. */
interface HostileOutcomes {
  type: 'hostile';
  peer: string;
  outcomes: Record<string, number>;
}

/** A hostile server listens. */
interface Listening {
  type: 'listening';
  url: string;
}

export type SoakMessage = HonestCall | HostileOutcomes | Listening;

/** Tells the process that started this one. */
export function tell(message: SoakMessage): void {
  process.send?.(message);
}
