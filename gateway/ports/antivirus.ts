/** What an antivirus says of a file. */
export type Verdict =
  | { kind: 'clean' }
  /** `signature`: what it was recognised by; at most 200 printable characters. */
  | { kind: 'infected'; signature: string }
  /** It was not scanned, or not as a whole: the antivirus does not take a file of this size, or with so much in it. */
  | { kind: 'too-large' };

/** One file on its way to the antivirus. Calls are made one after the other; `end` or `abort` comes last. */
export interface Scan {
  /**
   * Sends the next bytes, at the pace of the antivirus. They do not change until this resolves.
   * @throws GatewayError `antivirus_unavailable`
   */
  write(bytes: Buffer): Promise<void>;
  /** @throws GatewayError `antivirus_unavailable`: whatever is not one of the verdicts is not a clean file */
  end(): Promise<Verdict>;
  /** Frees the connection. Safe at any time. */
  abort(): void;
}

/** Scans files. */
export interface Scanner {
  /** The largest file that it scans, bytes. */
  readonly maxSize: number;
  /** What happens to a larger file. */
  readonly larger: 'refuse' | 'pass';
  /** Most files scanned at one time. */
  readonly scans: number;
  /** Most files that wait for their turn. */
  readonly queue: number;
  /** Begins a file. @throws GatewayError `antivirus_unavailable` */
  begin(signal: AbortSignal): Promise<Scan>;
  /** Program and signatures as it calls them, as far as it has been asked lately; at most 200 printable characters. */
  readonly database?: (() => string | undefined) | undefined;
  /** Resolves when files can be scanned; otherwise rejects with the reason. */
  check(): Promise<void>;
}

/** What an antivirus adapter gives: something that scans, or nothing. */
export interface Antivirus {
  readonly name: string;
  /** Absent: files are not scanned. */
  readonly scanner?: Scanner;
  close(): Promise<void>;
}
