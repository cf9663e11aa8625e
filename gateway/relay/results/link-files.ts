import type { FileRecord } from '../../files/file.js';
import { own } from '../../json/value.js';
import { answersByPlace } from '../../mcp/responses.js';
import type { ClientFacts } from '../../ports/client.js';
import { pointer } from '../../wire/json/pointer.js';
import { calledName, type TracedRequest } from '../pending-request.js';
import { declaredResults, toolOf } from '../tools/declared-results.js';
import { viewOf } from '../upstream/view.js';
import type { ResultDeps } from './deps.js';
import { FILE_METHODS, namesFiles } from './file-methods.js';
import { isForPages } from './for-pages.js';
import { hidesContent, resultsWithBoth } from './host/dropped-structure.js';
import { ImageRoom } from './host/image-room.js';
import { ShownFiles } from './host/shown-file.js';
import { mayBeUnshown, storeUnshown, unshownBlocks } from './host/unshown-blocks.js';
import { announceLinks } from './lazy-links.js';
import { NO_SUBJECT } from './outgoing-files.js';
import { remoteEdits } from './remote-edits.js';
import { type FetchedFile, fetchRemoteFiles, type ResultPlace, resultsIn } from './remote-files.js';
import { keepShownResources } from './shown-resources.js';
import { StructuredResults } from './structured-results.js';
import { ToldNames } from './told-names.js';
import { translate } from './translate.js';
import type { TranslateContext } from './translate-context.js';
import { RefusedFiles } from './types/refused-files.js';
import type { Work } from './work.js';

/** The stage that turns the files of a message into links. */
export async function linkFiles(work: Work): Promise<void> {
  const { message, cuts, deps, to, files, edits } = work;
  const { principal, inquire, signal } = to;
  const mayName = namesFiles(message, deps, to);
  const mayNeed =
    cuts.cuts.length > 0 || mayName || mayBeUnshown(message, to.client) || hidesContent(message, to.client);
  if (message.malformed || !mayNeed) return;
  const answers = await deps.taskTools.traced(work.answers, { principal, server: deps.server });
  const isForPage = await isForPages({ ...work, answers });
  const client = isForPage ? withoutHost(to.client) : to.client;
  const isUnshown = mayBeUnshown(message, client);
  const answerAt = answersByPlace(answers);
  const requestAt = (path: readonly (string | number)[]) => answerAt(path)?.request;
  const mayHoldFiles = (path: readonly (string | number)[]) =>
    FILE_METHODS.has(requestAt(path)?.method ?? 'tools/call');
  const subject = (path: readonly (string | number)[]) => nameOf(requestAt(path), deps) ?? NO_SUBJECT;
  const refused = await RefusedFiles.of(work, {
    mayHoldFiles,
    subject,
    tool: (path) => toolOf(requestAt(path)),
  });
  const named = mayName ? await naming({ ...work, answers }) : [];
  const fetched = await fetchRemoteFiles(named, {
    deps,
    principal,
    actor: to.identity.actor,
    inquire,
    signal,
  });
  const links = await announceLinks(named, principal, deps);
  await keepShownResources(named, cuts, { ...to, refused }, deps);
  const images = ImageRoom.of(message, cuts, client, deps.limits);
  if (isUnshown) await storeUnshown({ message, cuts, images }, client);
  const dropped = resultsWithBoth(message, client, deps.limits);
  const isEmpty = cuts.cuts.length === 0 && fetched.length === 0 && links.length === 0 && dropped.length === 0;
  if (isEmpty && !isUnshown) return;
  const view = viewOf(client.protocolVersion, principal);
  const structured = new StructuredResults(
    message,
    cuts,
    declaredResults(deps.catalog, view, inquire, requestAt),
    deps.limits,
  );
  const { server, dialects, limits } = deps;
  const { library } = deps.files;
  const shown = new ShownFiles(message, client, { files, images });
  const context = {
    server,
    client,
    dialects,
    limits,
    library,
    files,
    signal,
    structured,
    shown,
    room: work.room,
    edits,
  };
  const remote = fetched.length > 0 ? await remoteEdits(message, fetched, context) : undefined;
  const writer = dialects.find((dialect) => dialect.spokenBy(client));
  if (!writer) throw new Error('no dialect is spoken by every client');
  const unshownDeps = { cut: deps.cut, owner: { principal, server }, signal };
  const translation: TranslateContext = {
    client,
    dialects,
    limits,
    mayHoldFiles,
    stays: (cut) => isForPage && !cut.lost,
    subject,
    refused,
    names: new ToldNames(message, requestAt, limits),
    structured,
    sampleLinks: () => library.sampleLinks(),
    settings: (path) => own(deps.settings, toolOf(requestAt(path)) ?? ''),
    longestText: (path) => deps.catalog.known(view, toolOf(requestAt(path)) ?? '')?.longestText,
    links,
    edits,
    remote,
    shown,
    dropped,
    write: (...about) => writer.write(...about),
    unshown: async () => (isUnshown ? unshownBlocks({ message, cuts, files, images }, translation, unshownDeps) : []),
  };
  await translate(message, cuts, files, translation);
  const content = contentOf(work, fetched);
  if (content) to.facts.content = content;
}

/** What a host shows of results has nothing to do with what a page gets. */
function withoutHost({ host: _, ...client }: ClientFacts): ClientFacts {
  return client;
}

/**
 * What the first content of a resource has become. Determined from the edits, because the message itself is under the
 * server's control.
 */
function contentOf({ answers, cuts, files }: Work, fetched: readonly FetchedFile[]): FileRecord | undefined {
  const answer = answers.find(({ request }) => request?.method === 'resources/read');
  const place = answer && pointer([...answer.base, 'result', 'contents', 0]);
  const remote = fetched.find(({ path }) => pointer(path) === place)?.outcome;
  if (remote?.kind === 'stored') return remote.record;
  const own = cuts.claimed.find(({ range }) => pointer(range.path) === place);
  return own?.cut.stored && files.recordOf(own.cut.stored.digest);
}

/** The base of the names of nameless files in an answer. */
function nameOf(request: TracedRequest | undefined, { offered }: Pick<ResultDeps, 'offered'>): string | undefined {
  if (!request) return undefined;
  const { taskTool } = request;
  return taskTool === undefined ? (calledName(request) ?? request.method) : offered.nameOf(taskTool);
}

/** The results in a message that may name files which the server keeps. */
function naming({ message, answers, deps }: Work): Promise<ResultPlace[]> {
  const asked = answers.flatMap(({ base, request }) =>
    request && FILE_METHODS.has(request.method) ? [{ base, subject: nameOf(request, deps) ?? request.method }] : [],
  );
  return resultsIn(message, asked, deps.limits);
}
