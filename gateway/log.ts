import { type Logger, pino } from 'pino';
import type { Log, LogFields } from './ports/log.js';
import { redactFields } from './redact.js';

/** Lines are written together: a separate write for each took a twentieth of the time with many small messages. */
const LINES_BYTES = 4096;
/** Longest wait of a line for others. When the process ends, lines are written at once. */
const FLUSH_MS = 100;

/** Where lines go; default: standard error, because standard output is for text that people read. */
export interface LogTarget {
  write(line: string): void;
}

/**
 * JSON lines with `time` (RFC 3339), `level` (a word) and `text`. All fields pass through `redactFields` first, so that
 * a caller's mistake does not put a secret into the log.
 */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error', target?: LogTarget): Log {
  const options = {
    level,
    base: null,
    messageKey: 'text',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return wrap(pino(options, target ?? standardError()));
}

function standardError(): LogTarget {
  const lines = pino.destination({ dest: 2, sync: false, minLength: LINES_BYTES, periodicFlush: FLUSH_MS });
  let isGone = false;
  lines.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') throw error;
    // A closed terminal must not end running calls. Waiting lines would be retried for ever at the end.
    isGone = true;
    lines.destroy();
  });
  return {
    write: (line) => {
      if (!isGone) lines.write(line);
    },
  };
}

function wrap(logger: Logger): Log {
  // The check of the level comes first: most debug lines are never written, and redacting walks every field.
  const line = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: LogFields, text: string) => {
    if (logger.isLevelEnabled(level)) logger[level](redactFields(fields), text);
  };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => wrap(logger.child(redactFields(fields))),
  };
}
