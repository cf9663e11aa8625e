import { type Logger, pino } from 'pino';
import type { Log, LogFields } from './ports/log.js';
import { redactFields } from './redact.js';

/** Lines are written together: a write of its own for each took a twentieth of the time under many small messages. */
const LINES_BYTES = 4096;
/** The longest that a line waits for others. At the end of the process nothing waits. */
const FLUSH_MS = 100;

/** Where lines go; standard error by default, so that standard output stays for what people read. */
export interface LogTarget {
  write(line: string): void;
}

/**
 * JSON lines with `time` (RFC 3339), `level` (a word) and `text`. Whatever is handed in goes through `redactFields`
 * first, so a caller's slip does not put a secret into a log.
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
    // A terminal that was closed is no reason to end the calls under way. What waits would be tried for ever at the end.
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
