import type { ClientFacts } from '../../../ports/client.js';
import type { Dialect } from '../../../ports/dialect.js';
import type { BadQuestion, ServerQuestion } from '../../../ports/file-question.js';
import type { JsonObject } from '../../../ports/json.js';
import type { AskingDeps } from '../deps.js';
import { mostInAnswer } from '../lacking.js';
import { wayForServer } from './wanted-file.js';

/** Most types that a file may have, and characters of one: an upload link keeps them. */
const MAX_ACCEPT = 100;
const MAX_TYPE = 255;

const UNRULED =
  'the client knows no fields for files, so that what Wharf is told about files (flow, limits, antivirus, audit) could not be kept';

/** A question of a server's that Wharf answers. */
export interface FoundQuestion {
  dialect: Dialect;
  question: ServerQuestion | BadQuestion;
}

/** What a server asks for in a dialect of files. Undefined for what the client itself can answer. */
export function readQuestion(
  params: JsonObject,
  client: ClientFacts,
  deps: Pick<AskingDeps, 'order' | 'dialects' | 'accepts'> & JudgingDeps,
): FoundQuestion | undefined {
  for (const dialect of deps.dialects) {
    const question = dialect.asks?.fromServer(params);
    if (!question) continue;
    if ('problem' in question) return { dialect, question };
    // the client answers a form itself where it fills such fields with bytes, or can be asked in no other way
    const isInForm = question.files.every(({ endpoint }) => !endpoint);
    const isSeen = areFilesJudged(deps);
    if (isInForm && !isSeen && givesBytes(dialect, question, client)) return undefined;
    const problem = tooMuchIn(question, deps.limits.files);
    if (problem !== undefined) return { dialect, question: { problem } };
    if (isInForm && !canAskFor(question, client, deps))
      return isSeen ? { dialect, question: { problem: UNRULED } } : undefined;
    return { dialect, question };
  }
  return undefined;
}

type JudgingDeps = Pick<AskingDeps, 'limits' | 'toolLimits' | 'flow' | 'audit' | 'isScanned'>;

/** Whether the files in an answer must be seen: what passes unread passes every rule and the antivirus, and is in no log. */
export function areFilesJudged({ limits, toolLimits, flow, audit, isScanned }: JudgingDeps): boolean {
  const { file, inlineArgument } = toolLimits.least(limits);
  const isAnySize = Math.min(file, inlineArgument) >= mostInAnswer({ ...limits, inlineArgument: limits.message });
  const isAnyType = limits.accept === undefined && !toolLimits.limitsTaken;
  return flow !== undefined || audit.isOn || isScanned || !isAnySize || !isAnyType;
}

/** Whether a client knows fields for such files, and fills them with the files themselves. */
function givesBytes({ asks }: Dialect, { files }: ServerQuestion, client: ClientFacts): boolean {
  if (!asks || asks.mayNameUploads?.(client)) return false;
  const file = { name: 'file', message: '', maxSize: 1, maxInline: 1, upload: { url: '', id: '' } };
  return files.every(({ transferModes }) =>
    asks.question({ ...file, ...(transferModes && { transferModes }) }, client),
  );
}

/** Whether there is a way to ask a client for each of the files. */
export function canAskFor(
  { files }: ServerQuestion,
  client: ClientFacts,
  deps: Pick<AskingDeps, 'order' | 'dialects' | 'limits' | 'accepts'>,
): boolean {
  return files.every((wanted) => wayForServer(wanted, client, deps) !== undefined);
}

/** Looked at before anything else: a client's own types are compared with each of these. */
function tooMuchIn({ files }: ServerQuestion, most: number): string | undefined {
  if (files.length > most) return `it asks for ${files.length} files, and at most ${most} are asked for at once`;
  for (const { name, accept = [] } of files) {
    if (accept.length > MAX_ACCEPT) return `"${name}" accepts ${accept.length} types, and may accept ${MAX_ACCEPT}`;
    if (accept.some((type) => type.length > MAX_TYPE)) return `"${name}" accepts a type of over ${MAX_TYPE} characters`;
  }
  return undefined;
}
