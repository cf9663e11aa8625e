import type { FileRecord } from '../../../files/file.js';
import type { Several } from '../../../files/tickets/several.js';
import type { UploadIntent } from '../../../files/tickets/upload-intent.js';
import { type Accepting, acceptedWithin } from '../../../policy/message-limits.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { ServerFile } from '../../../ports/file-question.js';
import type { AskingDeps } from '../deps.js';
import { acceptedBy, BY_CLIENT, MAX_QUESTION, mostInAnswer } from '../lacking.js';
import { type Way, wayFor } from '../means.js';
import { serverAskedText } from '../texts.js';

/** The way in which a client is asked for a file that its server wants. */
export function wayForServer(
  wanted: ServerFile,
  client: ClientFacts,
  deps: Pick<AskingDeps, 'order' | 'dialects' | 'limits' | 'accepts'>,
): Way | undefined {
  const { name, title, description, transferModes } = wanted;
  const { accept } = acceptedFor(wanted, deps);
  if (!takesInline(wanted) && !deps.dialects.some(({ transfer }) => transfer)) return undefined;
  const words = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  const maxSize = largestFor(wanted, deps);
  const maxInline = Math.min(maxSize, mostInAnswer(deps.limits));
  const several = severalFor(wanted, deps);
  const limited = { ...(accept && { accept }), ...(several && { several }), ...(transferModes && { transferModes }) };
  return wayFor({ name, ...words, maxSize, maxInline, ...limited, isServers: true }, client, deps);
}

/** A file that a server wants, and for whose sake its user is asked. */
interface WantedByServer {
  wanted: ServerFile;
  /** The server's own words. */
  message: string;
  tool: string | undefined;
  principal: string;
}

/** The upload that such a file needs. */
export function uploadForServer(
  { wanted, message, tool, principal }: WantedByServer,
  { form, takes }: Pick<Way, 'form' | 'takes'>,
  deps: Pick<AskingDeps, 'server' | 'limits' | 'accepts'>,
): UploadIntent {
  const { server } = deps;
  const { name } = wanted;
  const question = serverAskedText(message, server, wanted).slice(0, MAX_QUESTION);
  const several = severalFor(wanted, deps);
  return {
    principal,
    ...takes,
    ...(takes.maxSize < largestFor(wanted, deps) && { maxSizeBy: BY_CLIENT }),
    ...acceptedBy(acceptedFor(wanted, deps), takes),
    ...(several && { several }),
    ...(form?.asks.isCallersUpload ? { isCallers: true } : { isForPerson: true }),
    purpose: { server, argument: name, question, ...(tool !== undefined && { tool }) },
  };
}

/** A server that takes files in both ways gets short ones in its answer, as in a call. */
export function wantsUploaded(
  wanted: ServerFile,
  records: readonly FileRecord[],
  deps: Pick<AskingDeps, 'limits' | 'accepts'>,
): boolean {
  if (!takesUploads(wanted)) return false;
  return !takesInline(wanted) || records.reduce((sum, { size }) => sum + size, 0) > largestInline(deps);
}

function takesInline({ transferModes }: ServerFile): boolean {
  return transferModes === undefined || transferModes.includes('inline');
}

function takesUploads({ transferModes, endpoint }: ServerFile): boolean {
  return endpoint !== undefined || transferModes?.includes('upload') === true;
}

/** One list of what the server and the config take. */
function acceptedFor({ accept }: ServerFile, { limits }: Pick<AskingDeps, 'limits'>): Accepting {
  return acceptedWithin(accept, limits.accept, 'accept of the question');
}

/** Bytes of the largest file that such a field takes. */
export function largestFor(wanted: ServerFile, deps: Pick<AskingDeps, 'limits' | 'accepts'>): number {
  const { limits } = deps;
  const { maxSize } = wanted;
  const most = takesUploads(wanted) ? limits.file : largestInline(deps);
  return Math.min(limits.file, most, maxSize ?? most);
}

/** How many files a list takes; undefined where one is wanted. */
function severalFor(wanted: ServerFile, deps: Pick<AskingDeps, 'limits' | 'accepts'>): Several | undefined {
  const { isList, minItems = 1, maxItems } = wanted;
  const most = Math.min(maxItems ?? deps.limits.filesPerArgument, deps.limits.filesPerArgument);
  if (!isList || most <= 1) return undefined;
  const together = takesUploads(wanted) ? {} : { together: { bytes: largestInline(deps), limit: 'limits.message' } };
  return { least: Math.min(Math.max(1, minItems), most), most, ...together };
}

/** Bytes of files that are in the answer itself. */
function largestInline({ limits, accepts }: Pick<AskingDeps, 'limits' | 'accepts'>): number {
  return Math.min(mostInAnswer(limits), mostInAnswer({ ...limits, message: accepts }));
}
