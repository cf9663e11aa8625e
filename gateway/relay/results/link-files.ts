import type { FileRecord } from '../../files/file.js';
import { writerFor } from '../../hosts/spoken.js';
import { lightValue } from '../../json/light-value.js';
import { isObject, own } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { answersByPlace } from '../../mcp/responses.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Host } from '../../ports/host.js';
import type { JsonPath } from '../../ports/json.js';
import { pointer } from '../../wire/json/pointer.js';
import type { ClaimedCut } from '../cut/message-cuts.js';
import { causeOf } from '../exchange.js';
import { calledName, type TracedRequest } from '../pending-request.js';
import { declaredResults, toolOf } from '../tools/declared-results.js';
import { viewOf } from '../upstream/view.js';
import type { ResultDeps } from './deps.js';
import { FILE_METHODS, namesFiles } from './file-methods.js';
import { isForPages } from './for-pages.js';
import { handleUses } from './handle-uses.js';
import { hidesContent, resultsWithBoth } from './host/dropped-structure.js';
import { isShownPage } from './host/embedded-text.js';
import { ImageRoom } from './host/image-room.js';
import { isLink, tellsLinks } from './host/link-words.js';
import { isErrorAt, resultOf, ShownFiles } from './host/shown-file.js';
import { mayBeUnshown, storeUnshown, unshownBlocks } from './host/unshown-blocks.js';
import { announceLinks } from './lazy-links.js';
import { NO_SUBJECT } from './outgoing-files.js';
import { remoteEdits } from './remote-edits.js';
import { type FetchedFile, fetchRemoteFiles, type ResultPlace, resultsIn } from './remote-files.js';
import { askedIn } from './resource-file.js';
import { keepShownResources } from './shown-resources.js';
import { StructuredResults } from './structured-results.js';
import { ToldNames } from './told-names.js';
import { translate } from './translate.js';
import type { TranslateContext } from './translate-context.js';
import { RefusedFiles } from './types/refused-files.js';
import type { Work } from './work.js';

/** The stage that turns the files of a message into links. */
export async function linkFiles(given: Work): Promise<void> {
  const { message, cuts, deps, to, files } = given;
  const mayName = namesFiles(message, deps, to);
  const mayNeed =
    cuts.cuts.length > 0 || mayName || mayBeUnshown(message, to.client) || hidesContent(message, to.client);
  if (message.malformed || !mayNeed) return;
  const owner = { principal: to.principal, server: deps.server };
  const answers = await deps.taskTools.traced(given.answers, owner);
  const notices = await deps.taskTools.traced(given.notices, owner);
  const work = { ...given, answers, notices };
  const isForPage = await isForPages(work);
  const client = isForPage ? { ...to.client, host: READ_BY_CODE } : to.client;
  const found = await findFiles(work, { client, isForPage, mayName, places: placesOf(work) });
  if (found.isEmpty) return;
  await translate(message, cuts, files, await translationOf(work, found));
  const content = contentOf(given, found.fetched);
  if (content) to.facts.content = content;
}

/** What is known about a place in a message by the request that is answered there. */
interface Places {
  requestAt: (path: JsonPath) => TracedRequest | undefined;
  mayHoldFiles: (path: JsonPath) => boolean;
  subject: (path: JsonPath) => string;
}

function placesOf({ answers, notices, deps }: Work): Places {
  const answerAt = answersByPlace([...answers, ...notices]);
  const requestAt = (path: JsonPath) => answerAt(path)?.request;
  return {
    requestAt,
    mayHoldFiles: (path) => FILE_METHODS.has(requestAt(path)?.method ?? 'tools/call'),
    subject: (path) => nameOf(requestAt(path), deps) ?? NO_SUBJECT,
  };
}

interface Known {
  client: ClientFacts;
  /** The message goes to a page of the server's own, in its client's host. */
  isForPage: boolean;
  /** Some result may name files that the server keeps. */
  mayName: boolean;
  places: Places;
}

/** The files of a message: refused, fetched, named, stored because the host would not show them. */
async function findFiles(work: Work, known: Known) {
  const { message, cuts, deps, to } = work;
  const { principal, inquire, signal } = to;
  const by = causeOf(to);
  const { client, mayName, places } = known;
  const tool = (path: JsonPath) => toolOf(places.requestAt(path));
  const refused = await RefusedFiles.of(work, { ...places, tool });
  const named = mayName ? await naming(work) : [];
  const fetched = await fetchRemoteFiles(named, { deps, principal, by, inquire, signal });
  const isTold = named.some(
    (one) => hasLinks(one) && tellsLinks(client.host, isErrorAt(message, one.path)) !== undefined,
  );
  const uses = isTold ? handleUses(deps, to) : undefined;
  // a model that reads the handle in words can also get a link for it; programs have it for tools that take files
  const links = deps.takers.any || uses ? await announceLinks(named, principal, deps) : [];
  await keepShownResources(named, cuts, { ...to, by, refused }, deps);
  const images = ImageRoom.of(message, cuts, client, deps.limits);
  const isUnshown = isTold || mayBeUnshown(message, client);
  if (isUnshown) await storeUnshown({ message, cuts, images }, { client, dialects: deps.dialects });
  const dropped = resultsWithBoth(message, client, deps.limits);
  const isEmpty =
    cuts.cuts.length === 0 && fetched.length === 0 && links.length === 0 && dropped.length === 0 && !isUnshown;
  return { ...known, refused, fetched, links, uses, images, isUnshown, dropped, isEmpty };
}

type Found = Awaited<ReturnType<typeof findFiles>>;

/** What the files of a message are turned into links with. */
async function translationOf(work: Work, found: Found): Promise<TranslateContext> {
  const { message, cuts, deps, to, files, room, edits } = work;
  const { client, isForPage, fetched, images, isUnshown, places, refused, links, uses, dropped } = found;
  const { principal, inquire, signal } = to;
  const { requestAt, mayHoldFiles, subject } = places;
  const { server, dialects, limits, catalog } = deps;
  const { library } = deps.files;
  const view = viewOf(client.protocolVersion, principal);
  const declared = declaredResults(catalog, view, inquire, requestAt);
  const structured = new StructuredResults(message, cuts, declared, limits);
  const shown = new ShownFiles(message, client, { files, images });
  const context = {
    owner: { principal, server },
    server,
    client,
    dialects,
    limits,
    library,
    files,
    signal,
    structured,
    shown,
    room,
    edits,
  };
  const remote = fetched.length > 0 ? await remoteEdits(message, fetched, context) : undefined;
  const writer = writerFor(client, dialects);
  const unshownDeps = { cut: deps.cut, owner: { principal, server }, signal };
  const toolAt = (path: JsonPath) => toolOf(requestAt(path)) ?? '';
  const isPage = ({ holder, range }: ClaimedCut) =>
    isShownPage(holder, { ...client, dialects }, { isError: isErrorAt(message, resultOf(range.path)) });
  const pages = new Set(cuts.claimed.filter(isPage).map(({ cut }) => cut));
  const translation: TranslateContext = {
    ...{
      client,
      dialects,
      limits,
      mayHoldFiles,
      subject,
      refused,
      structured,
      links,
      uses,
      room,
      edits,
      remote,
      shown,
      dropped,
    },
    stays: (cut) => (isForPage || pages.has(cut)) && !cut.lost,
    names: new ToldNames(message, requestAt, limits),
    sampleLinks: () => library.sampleLinks(),
    settings: (path) => own(deps.settings, toolAt(path)),
    longestText: (path) => catalog.known(view, toolAt(path))?.longestText,
    write: (...about) => writer.write(...about),
    unshown: async () => (isUnshown ? unshownBlocks({ message, cuts, files, images }, translation, unshownDeps) : []),
  };
  return translation;
}

/** True where a result has a link of the server's. */
function hasLinks({ result: { content } }: ResultPlace): boolean {
  return Array.isArray(content) && content.some(isLink);
}

/** What a host shows of results has nothing to do with what a page gets: it reads an error like any other. */
const READ_BY_CODE: Host = { errorImages: 'keep' };

/**
 * What the content of a resource that was asked for has become. Determined from the edits, because the message itself is
 * under the server's control.
 */
function contentOf(
  { message, answers, cuts, files, deps }: Work,
  fetched: readonly FetchedFile[],
): FileRecord | undefined {
  const answer = answers.find(({ request }) => request?.method === 'resources/read');
  const range = answer && rangeAt(message, RANGE.result, [...answer.base, 'result']);
  const result = range && lightValue(message, range, deps.limits);
  const index = isObject(result) ? askedIn(result.contents, answer?.request?.subject ?? '') : undefined;
  if (!answer || index === undefined) return undefined;
  const place = pointer([...answer.base, 'result', 'contents', index]);
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
function naming({ message, answers, notices, deps, to: { principal } }: Work): Promise<ResultPlace[]> {
  const told = notices.map((notice) => ({ ...notice, base: [...notice.base, 'params'] }));
  const asked = [...answers, ...told].flatMap(({ base, request }) =>
    request && FILE_METHODS.has(request.method) ? [{ base, subject: nameOf(request, deps) ?? request.method }] : [],
  );
  return resultsIn(message, asked, { principal, server: deps.server }, deps.limits);
}
