import { isObject } from '../../json/value.js';
import { eraOf } from '../../mcp/era.js';
import type { Means } from '../../policy/means.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { FileAsking, FileBounds, FileQuestion } from '../../ports/file-question.js';
import type { JsonObject } from '../../ports/json.js';

/** What a client declares to ask its person with. */
export const ELICITATION = 'elicitation';

/** A form of a dialect's in which a file is asked for. */
export interface Form {
  /** Name of the dialect. */
  dialect: string;
  field: string;
  /** What the upload is called, where there is one. */
  uploadId: string;
  /** Most bytes of a file in the answer itself, if those are fewer than of one that is uploaded. */
  maxInline?: number;
}

/** How one client is asked for one file. */
export interface Way {
  means: Means;
  /** The dialect's name and its form, and what a file in its answer may have at most, if that is less; undefined for the page. */
  form: { dialect: string; asks: FileAsking; maxInline?: number } | undefined;
  /** Which files may come: those that are wanted, within what the client declares. */
  takes: FileBounds;
  /** Parameters of `elicitation/create`. */
  params: (message: string, upload: FileQuestion['upload']) => JsonObject;
}

/** What is remembered of a form in which a file is asked for. */
export function formOf({ dialect, maxInline }: NonNullable<Way['form']>, field: string, uploadId: string): Form {
  return { dialect, field, uploadId, ...(maxInline !== undefined && { maxInline }) };
}

export interface MeansDeps {
  /** `elicitation.order` */
  order: readonly Means[];
  dialects: readonly Dialect[];
}

/** The first of the ways in this order that the client understands, and by which it would give such a file. */
export function wayFor(
  file: Omit<FileQuestion, 'message' | 'upload'>,
  client: ClientFacts,
  { order, dialects }: MeansDeps,
): Way | undefined {
  const { maxInline } = file;
  const wanted: FileBounds = { maxSize: file.maxSize, ...(file.accept && { accept: file.accept }) };
  // what the operator says of the client counts, within what is allowed for all
  for (const means of client.elicitation?.filter((one) => order.includes(one)) ?? order) {
    if (means === 'url') {
      if (opensPages(client))
        return { means, form: undefined, takes: wanted, params: (message, upload) => page(message, upload, client) };
      continue;
    }
    for (const { name: dialect, asks } of dialects) {
      if (asks?.means !== means) continue;
      const params = (message: string, upload: FileQuestion['upload']) =>
        asks.question({ ...file, message, upload }, client);
      if (!params('', { url: '', id: '' })) continue;
      const takes = asks.narrow?.(wanted, client) ?? wanted;
      const isLess = maxInline < takes.maxSize;
      const form = { dialect, asks, ...(isLess && { maxInline }) };
      return { means, form, takes, params: (message, upload) => params(message, upload) ?? {} };
    }
  }
  return undefined;
}

/** How a question reaches the client, if it can be asked any: on the stream of its call, or as a result. */
export function asksBy(client: ClientFacts): 'request' | 'result' | undefined {
  const { elicitsBy } = eraOf(client.protocolVersion);
  const isAble = isObject(client.capabilities[ELICITATION]) || isConfigured(client);
  return elicitsBy === 'nothing' || !isAble ? undefined : elicitsBy;
}

/** Whether it shows forms without files. One that declares nothing else shows them. */
export function showsForms({ capabilities }: ClientFacts): boolean {
  const declared = capabilities[ELICITATION];
  if (!isObject(declared)) return false;
  return declared.form !== undefined || !Object.keys(declared).some((mode) => mode === 'url' || mode === 'binary');
}

/** Whether the operator says that the client asks its user, in some way. */
function isConfigured({ elicitation = [] }: ClientFacts): boolean {
  return elicitation.length > 0;
}

/** Whether its user can be sent to a web page. */
export function opensPages({ protocolVersion, capabilities, elicitation, host }: ClientFacts): boolean {
  const declared = capabilities[ELICITATION];
  const declares = isObject(declared) && (host?.opensPages ?? isObject(declared.url));
  const isAble = elicitation?.includes('url') || declares;
  return eraOf(protocolVersion).hasUrlElicitation && isAble;
}

function page(message: string, { url, id }: FileQuestion['upload'], { protocolVersion }: ClientFacts): JsonObject {
  const named = eraOf(protocolVersion).elicitsBy === 'request' ? { elicitationId: id } : {};
  return { mode: 'url', ...named, url, message };
}
