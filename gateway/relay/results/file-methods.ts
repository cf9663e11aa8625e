import { answersIn } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Addressee } from '../pending-request.js';
import type { ResultDeps } from './deps.js';
import { mayNameFiles } from './remote-files.js';
import { noticesIn } from './tool/task-notices.js';

/** Methods whose results can contain files. The answer to any other method never does, whatever it looks like. */
export const FILE_METHODS = new Set(['tools/call', 'tasks/result', 'tasks/get', 'prompts/get', 'resources/read']);

/** A cheap test for names of files that the server keeps. */
export function namesFiles(message: HeldMessage, deps: ResultDeps, to: Addressee): boolean {
  const answered = answersIn(message).flatMap(({ id }) => to.answered(id)?.method ?? []);
  const methods = [...answered, ...noticesIn(message).flatMap(({ request }) => request?.method ?? [])];
  return mayAnswerWithFiles(methods, message.pieces(), deps);
}

/** True when answers to these methods may name files that the server keeps. */
export function mayAnswerWithFiles(
  methods: readonly string[],
  pieces: readonly Buffer[],
  { dialects }: Pick<ResultDeps, 'dialects'>,
): boolean {
  const own = methods.filter((method) => FILE_METHODS.has(method));
  return own.length > 0 && mayNameFiles(pieces, own, dialects);
}
