/** Facts of one log line. Never a ticket, a token, a signature or file content. */
export type LogFields = Record<string, unknown>;

/** Structured log. `text` is a constant sentence; variable parts go into `fields`. */
export interface Log {
  debug(fields: LogFields, text: string): void;
  info(fields: LogFields, text: string): void;
  warn(fields: LogFields, text: string): void;
  error(fields: LogFields, text: string): void;
  /** A log that adds `fields` to every line. */
  child(fields: LogFields): Log;
}
