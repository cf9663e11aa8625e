import { format } from 'node:util';
import { LogWriter } from './log-writer.js';
import type { Log, LogFields } from './ports/log.js';
import { redactedMembers } from './redact.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

type Level = (typeof LEVELS)[number];

/** A log whose lowest level may change while it is written, also for the logs that are made from it. */
interface LevelledLog extends Log {
  setLevel(level: Level): void;
}

/** What is written of the lines of a log and of those made from it: from the level at this place on. */
interface Gate {
  least: number;
}

/**
 * Lines are written together, thirty at a time: each write goes through a thread, which took 4 of a short message's 100 µs
 * with ten at a time, and a twentieth of the time alone.
 */
const LINES_CHARS = 12_288;
/** Longest wait of a line for others. When the process ends, lines are written at once. */
const FLUSH_MS = 100;
/** Bytes that wait when standard error is read too slowly. Further lines are lost, and a later line has their number. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;

/** Where lines go; default: standard error, because standard output is for text that people read. */
interface LogTarget {
  write(line: string): void;
}

/**
 * JSON lines with `level` (a word), `time` (RFC 3339) and `text`. All fields are redacted, so that a caller's mistake does
 * not put a secret into the log. Each line is written as text in one pass: a copy of its fields for a general logger took
 * 5 µs of a short exchange's 100, and the logger 7 MiB of an idle process.
 */
export function createLog(level: Level, target?: LogTarget): LevelledLog {
  const gate = { least: LEVELS.indexOf(level) };
  return {
    ...logFrom(gate, target ?? standardError(), ''),
    setLevel: (next) => {
      gate.least = LEVELS.indexOf(next);
    },
  };
}

/** Characters of a library's text that a line repeats. */
const MOST_PRINTED = 1000;

const PRINTING = ['debug', 'error', 'info', 'log', 'warn'] as const;

/**
 * Makes what libraries print to the console lines of the log. Programs that read the log could not read it between its
 * lines, and in `wharf stdio` standard output is for messages alone.
 */
export function takePrinted(log: Pick<Log, 'warn'>, printer: Pick<Console, (typeof PRINTING)[number]> = console): void {
  for (const verb of PRINTING)
    printer[verb] = (...words: unknown[]) =>
      log.warn({ printed: format(...words).slice(0, MOST_PRINTED) }, 'A library has printed a text.');
}

/**
 * Makes what no code has caught a line of the log: Node would print it as it is, with all that it quotes. After a promise that
 * nothing awaited, Wharf goes on. What the promise was about is lost, but the end of the process would be that of every other
 * call, and of every stdio server. After an error outside of all promises the process ends, for nothing is certain then.
 */
export function takeUncaught(log: Pick<Log, 'error'>, here: Pick<NodeJS.Process, 'on' | 'exit'> = process): void {
  here.on('unhandledRejection', (err) =>
    log.error({ err }, 'A fault of Wharf: nothing has handled an error. It goes on.'),
  );
  here.on('uncaughtException', (err) => {
    log.error({ err }, 'A fault of Wharf: nothing has caught an error. The process ends.');
    here.exit(1);
  });
}

/** Lines on their way to a target, gathered for at most 100 ms. */
export class GatheredLines {
  readonly #sink: LogTarget;
  #text = '';
  #isTimed = false;

  constructor(sink: LogTarget) {
    this.#sink = sink;
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= LINES_CHARS) this.flush();
    else if (!this.#isTimed) this.#flushLater();
  }

  flush(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    this.#sink.write(text);
  }

  #flushLater(): void {
    this.#isTimed = true;
    const flush = () => {
      this.#isTimed = false;
      this.flush();
    };
    setTimeout(flush, FLUSH_MS).unref();
  }
}

/** Writes what still waits when the process ends. */
function standardError(): LogTarget {
  let lostLines = 0;
  const out = new LogWriter(2, {
    most: MOST_WAITING_BYTES,
    lost: (text) => {
      lostLines += text.split('\n').length - 1;
    },
    // only now is there hope that a line about lost ones arrives
    written: () => {
      if (lostLines === 0) return;
      const told = lostLines;
      lostLines = 0;
      const why = 'Lines of this log were lost: they were read too slowly, or could not be written.';
      logFrom({ least: 0 }, lines, '').warn({ lines: told }, why);
    },
  });
  const lines = new GatheredLines(out);
  process.once('exit', () => {
    lines.flush();
    out.end();
  });
  return lines;
}

/** @param bound members that every line has */
function logFrom(gate: Gate, target: LogTarget, bound: string): Log {
  const line = (level: Level) => {
    const place = LEVELS.indexOf(level);
    const begin = `{"level":"${level}","time":"`;
    return (fields: LogFields, text: string) => {
      // The check of the level comes first: most debug lines are never written, and redacting walks every field.
      if (place < gate.least) return;
      target.write(`${begin}${now()}"${bound}${redactedMembers(fields)}${endOf(text)}`);
    };
  };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => logFrom(gate, target, bound + redactedMembers(fields)),
  };
}

let second = Number.NaN;
let untilSecond = '';

/** The time by RFC 3339. Its text is made once a second: `toISOString` took a third of a line's time. */
function now(): string {
  const at = Date.now();
  const rest = at % 1000;
  if (at - rest !== second) {
    second = at - rest;
    untilSecond = new Date(second).toISOString().slice(0, -4);
  }
  return `${untilSecond}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}Z`;
}

/** Most texts that are kept as a line ends with them. They are sentences of the source, so there are not many. */
const KEPT_TEXTS = 500;
const ends = new Map<string, string>();

function endOf(text: string): string {
  const known = ends.get(text);
  if (known !== undefined) return known;
  const end = `,"text":${JSON.stringify(text)}}\n`;
  if (ends.size < KEPT_TEXTS) ends.set(text, end);
  return end;
}
