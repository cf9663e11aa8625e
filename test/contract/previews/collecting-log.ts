import type { Log, LogFields } from '../../../gateway/ports/log.js';

/** A log that keeps its lines. */
export function collectingLog(): Log & { lines: { level: string; fields: LogFields; text: string }[] } {
  const lines: { level: string; fields: LogFields; text: string }[] = [];
  const at =
    (level: string) =>
    (fields: LogFields, text: string): void => {
      lines.push({ level, fields, text });
    };
  const log = { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log };
  return log;
}
