import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Composer, CST, type Document, Parser, parseDocument } from 'yaml';
import { faultText, isLast, isToml, withoutComments } from './mistakes/yaml-faults.js';
import type { ConfigProblem } from './problems.js';

type FileRead = { ok: true; value: object } | { ok: false; problems: ConfigProblem[] };

/** A config of a thousand servers has some 200 KiB. */
const MAX_BYTES = 1024 * 1024;
/** Most repetitions of an anchor, including those inside it: stops the "billion laughs" document. */
const MAX_ALIASES = 200;
/** How long a pipe may give nothing: behind `--config <(sops -d wharf.yaml)` a person may be asked for a password. */
const PIPE_MS = 60_000;
const LOOK_MS = 20;
/** The deepest value of any setting is at depth 4. */
const MAX_DEPTH = 100;

/**
 * Reads a config file as plain values. YAML 1.2 core schema, which includes JSON. Does not expand variables. A pipe to which
 * nothing is written would keep a thread for ever, and with it every later reload and the end of the process, so it is opened
 * without waiting.
 * @param pipeMs how long a pipe may give nothing
 */
export async function readConfigFile(file: string, pipeMs = PIPE_MS): Promise<FileRead> {
  const refuse = (message: string): FileRead => ({ ok: false, problems: [{ path: file, message }] });
  if (file === '') return { ok: false, problems: [{ path: '--config', message: 'must name a file' }] };
  let bytes: Buffer;
  try {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = await handle.stat();
      if (stat.isDirectory()) return refuse('is a directory; name the file');
      if (stat.size > MAX_BYTES) return refuse(`has ${stat.size} bytes, more than the ${MAX_BYTES} allowed`);
      // One byte past the limit detects a pipe or a growing file that is too large.
      const buffer = Buffer.alloc(MAX_BYTES + 1);
      const length = await fill(buffer, handle, stat.isFile() ? 0 : pipeMs);
      if (length === undefined) return refuse(`is a pipe that gives nothing for ${pipeMs / 1000} s`);
      if (length > MAX_BYTES) return refuse(`has more than the ${MAX_BYTES} bytes allowed`);
      bytes = buffer.subarray(0, length);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return refuse(reasonOf(error, file));
  }
  return parseConfigText(bytes, file);
}

/**
 * Reads until the end, or until the buffer is full.
 * @param waitMs how long nothing may come; 0 for a file, which has its end where nothing comes
 * @returns how many bytes there are; undefined where nothing has come in time
 */
async function fill(buffer: Buffer, handle: FileHandle, waitMs: number): Promise<number | undefined> {
  let length = 0;
  let waited = 0;
  while (length < buffer.length) {
    const bytesRead = await handle.read(buffer, length, buffer.length - length).then(
      (read) => read.bytesRead,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EAGAIN') return undefined;
        throw error;
      },
    );
    if (bytesRead) {
      length += bytesRead;
      waited = 0;
      continue;
    }
    // before its first byte a pipe without a writer looks as one that has ended
    if (bytesRead === 0 && (waitMs === 0 || length > 0)) break;
    if (waited >= waitMs) return undefined;
    waited += LOOK_MS;
    await pause(LOOK_MS);
  }
  return length;
}

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EISDIR: 'is a directory; name the file',
  ENOTDIR: 'does not exist: a part of its path is not a directory',
  ELOOP: 'cannot be read: too many symbolic links',
};

function reasonOf(error: unknown, file: string): string {
  const code = String((error as { code?: unknown } | null)?.code ?? 'unknown error');
  // most often Wharf was started in another folder
  if (code === 'ENOENT' && !isAbsolute(file)) return `${REASONS.ENOENT} in ${process.cwd()}`;
  return REASONS[code] ?? `cannot be read: ${code}`;
}

/**
 * Parses the bytes of a config file as plain values; `file` appears only in messages. Each step of a long file takes some
 * tenths of a second, between which a gateway that reloads it answers others.
 */
async function parseConfigText(bytes: Uint8Array, file: string): Promise<FileRead> {
  const refuse = (message: string, at = ''): FileRead => ({ ok: false, problems: [{ path: file + at, message }] });
  let text: string;
  try {
    // Drops a byte order mark and throws on what is not UTF-8.
    text = withoutComments(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return refuse('is not UTF-8 text; save it in that encoding');
  }
  if (text.includes('\0')) return refuse('holds a NUL character');
  const tokens = [...new Parser().parse(text)];
  if (nestsTooDeep(tokens)) return refuse('is nested too deep');
  await nextTurn();
  try {
    const document = compose(text, tokens);
    await nextTurn();
    // A warning is an unknown tag such as !!js/function, whose meaning would be lost.
    const faults = [...document.errors, ...document.warnings];
    if (faults.length > 0) {
      if (isToml(text)) return refuse('is TOML; Wharf reads YAML and JSON, with the servers under "servers"');
      const last = faults.findIndex((fault) => isLast(fault, text));
      const problems = faults.slice(0, last < 0 ? 20 : last + 1).map((fault) => {
        const at = fault.linePos?.[0];
        return { path: at ? `${file}:${at.line}:${at.col}` : file, message: faultText(fault, text) };
      });
      // brackets that end in one place are one mistake
      return { ok: false, problems: problems.filter((one, at) => !isDeepStrictEqual(one, problems[at - 1])) };
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    if (value === null || value === undefined)
      return refuse('is empty; it needs servers: { NAME: { url: … } } at least');
    if (typeof value !== 'object' || Array.isArray(value)) return refuse('must hold a map of settings');
    return { ok: true, value };
  } catch {
    return refuse('repeats its anchors too often');
  }
}

const OPTIONS = { version: '1.2', schema: 'core', uniqueKeys: true, logLevel: 'error', prettyErrors: true } as const;

/** Composes the document of tokens that have been made. Only with faults they are made again, with their lines. */
function compose(text: string, tokens: readonly CST.Token[]): Document {
  const [document, ...others] = new Composer(OPTIONS).compose(tokens, true, text.length);
  const isWell = document && others.length === 0 && document.errors.length + document.warnings.length === 0;
  return isWell ? document : parseDocument(text, OPTIONS);
}

/**
 * The library composes recursively, and a stack overflow there can end the whole process: V8 aborts if it is compiling
 * a regular expression at that moment. Its tokens are made without recursion.
 */
function nestsTooDeep(tokens: readonly CST.Token[]): boolean {
  const waiting: { token: CST.Token | null | undefined; depth: number }[] = [];
  for (const token of tokens) waiting.push({ token, depth: 0 });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next;
    if (depth > MAX_DEPTH) return true;
    if (!token) continue;
    if (token.type === 'document') waiting.push({ token: token.value, depth });
    else if (CST.isCollection(token)) {
      for (const item of token.items) {
        waiting.push({ token: item.key, depth: depth + 1 }, { token: item.value, depth: depth + 1 });
      }
    }
  }
  return false;
}
