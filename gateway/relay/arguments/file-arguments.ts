import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { nameParameter } from '../../files/encode/data-uri.js';
import { type Located, locateInSteps } from '../../json/locate.js';
import { isObject, valueAt } from '../../json/value.js';
import { encodeHeaderValue } from '../../mcp/headers.js';
import { contrast } from '../../policy/amounts.js';
import type { ClientFacts } from '../../ports/client.js';
import type { ArgumentReading, Dialect } from '../../ports/dialect.js';
import type { Delivery, FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { OutgoingMessage } from '../../ports/upstream.js';
import { EACH } from '../../schema/argument-path.js';
import { addAll } from '../../wire/add-all.js';
import type { PendingRequest } from '../pending-request.js';
import type { ToolFacts } from '../tools/catalog.js';
import { passesBetween, type SlotUse, slotsOf, valuesIn } from '../tools/file-slots.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { maxSizeOf } from '../tools/max-size.js';
import { Companions, companionPath } from './companions.js';
import { Deliveries, type DeliveryDeps } from './deliveries.js';
import { argumentsOf } from './heavy-arguments.js';
import { type IncomingFile, IncomingFiles } from './incoming-files.js';
import { refusalOfLong } from './long-argument.js';
import { refuseMissing } from './missing-files.js';
import { type OutgoingEdit, render } from './outgoing-message.js';

/** A header repeats an argument (SEP-2243); megabytes have no place in one. */
const MAX_HEADER_BYTES = 4096;

/** As long as such a value can be as JSON: every byte of it an escape, between quotes. */
const MAX_HEADER_JSON = MAX_HEADER_BYTES * 6 + 2;

/** What is looked at to tell whether a call might hand over a file. */
const MAX_LOOK = 10_000;

export interface ArgumentDeps extends DeliveryDeps {
  dialects: readonly Dialect[];
  client: ClientFacts;
  /** The client calls nested arguments by other names. */
  lifts: boolean;
  /** The server is told some arguments in headers too. */
  hasParamHeaders: boolean;
  /** Declarations of the tool, fetched if they are not known yet. */
  tool: (name: string) => Promise<ToolFacts | undefined>;
  /** The same, if they are known. */
  known: (name: string) => ToolFacts | undefined;
  /** Whether all declarations are known, so that one that is not is of no tool, or of a new one. */
  isSettled: () => boolean;
  /** Told of every file, once all of the message could be written. */
  handedOver: (file: HandedOver) => void;
}

/** A file that goes to the server with a call. */
export interface HandedOver {
  argument: string;
  file: IncomingFile;
}

/** A message with its file arguments in the form in which the server takes them. */
export interface PreparedMessage {
  message: OutgoingMessage;
  /** `Mcp-Param-*` headers whose argument Wharf has written. */
  headers: Record<string, string>;
  /** Removes what existed for the call only. To be called when it is answered, or cannot be. */
  done: () => Promise<void>;
}

/**
 * Resolves the files of all `tools/call`s of a POST and writes them into the message.
 * @returns undefined when there is none in it: then it goes as it came
 * @throws GatewayError `file_refused` before the server has been asked, and what stores and the upstream fail with
 */
export async function prepareArguments(
  text: Buffer,
  requests: readonly PendingRequest[],
  deps: ArgumentDeps,
): Promise<PreparedMessage | undefined> {
  const calls: Call[] = [];
  for (const request of requests) {
    const call = await callOf(request, deps);
    if (!call) continue;
    calls.push(call);
    refuseTooMany(calls, deps);
    refuseTooFew(call, deps);
  }
  if (calls.length === 0) return undefined;
  const deliveries = new Deliveries(deps);
  try {
    const paths = calls.flatMap((call) => call.uses.flatMap((use) => waysTo(call.base, use)));
    const located = await locateInSteps(
      text,
      paths,
      calls.some((call) => typeof call.base[0] === 'number'),
    );
    const { duplicate } = located;
    // JSON parsers differ on which of two equal keys counts: the server could see another file than was checked
    if (duplicate) {
      const { path, key } = duplicate;
      const reason = `the object at ${path} names "${key}" twice, so the file in it is ambiguous`;
      throw new GatewayError('request_invalid', { reason, path, key });
    }
    const edits: OutgoingEdit[] = [];
    const headers: Record<string, string> = {};
    const handed: HandedOver[] = [];
    for (const call of calls) {
      const files = new IncomingFiles(deps.incoming, deps.owner, deps.signal);
      addAll(handed, await writeCall(call, files, located, deliveries, deps, edits, headers));
    }
    const message = render(located.text, edits);
    refuseTooLong(message, calls, deps);
    for (const one of handed) deps.handedOver(one);
    return { message, headers, done: deliveries.done };
  } catch (error) {
    await deliveries.done();
    throw error;
  }
}

interface Call {
  name: string;
  /** Where the arguments stand in the body. */
  base: JsonPath;
  args: JsonObject;
  uses: FileUse[];
  tool: ToolFacts | undefined;
}

/** A value in a slot that is a file, or was meant to be one. */
type FileUse = SlotUse & { reading: ArgumentReading };

async function callOf(request: PendingRequest, deps: ArgumentDeps): Promise<Call | undefined> {
  const { method, subject, params, heavyArguments } = request;
  if (method !== 'tools/call' || subject === undefined) return undefined;
  if (request.tooLong) throw await refusalOfLong(request, subject, request.tooLong, deps);
  if (params.arguments !== undefined && !isObject(params.arguments)) return undefined;
  const settings = Object.hasOwn(deps.settings, subject) ? deps.settings[subject] : undefined;
  const known = deps.known(subject);
  const isConfigured = settings !== undefined && settings.files.length > 0;
  const mayTakeFiles = known
    ? known.slots.length > 0
    : isConfigured || !deps.isSettled() || mayHoldFiles(params, heavyArguments);
  if (!mayTakeFiles) return undefined;
  const tool = known ?? (await deps.tool(subject));
  const slots = tool?.slots ?? slotsOf({}, settings, []);
  const args = await argumentsOf(request, slots, tool?.paramHeaders ?? [], deps.limits);
  if (!args) return undefined;
  refuseMissing(subject, args, slots, tool?.required ?? [], {
    maxSize: (slot) => maxSizeOf(slot, deps),
    lifts: deps.lifts,
  });
  const uses = await filesIn(args, slots, deps);
  if (uses.length === 0) return undefined;
  request.hasFiles = true;
  return { name: subject, base: [...request.base, 'params', 'arguments'], args, uses, tool };
}

/** A cheap look: without one of these spellings nothing in a call can be a file, and nobody needs to ask the server. */
function mayHoldFiles({ arguments: args = {} }: JsonObject, heavyArguments: Buffer | undefined): boolean {
  if (heavyArguments) return true;
  let looks = 0;
  const look = (value: JsonValue): boolean => {
    looks += 1;
    if (looks > MAX_LOOK) return true;
    if (typeof value === 'string') {
      const head = value.slice(0, 4096);
      return MAY_BE_FILE.test(head) || (WEB.test(head) && LINK_PATH.test(head));
    }
    if (Array.isArray(value)) return value.some(look);
    if (!isObject(value)) return false;
    if (typeof value.download_url === 'string' || value.type === 'file') return true;
    return Object.values(value).some(look);
  };
  return look(args);
}

const MAY_BE_FILE = /mcp-file:|^@attach$|^\s*["'<(]?(?:data|file|javascript):/i;
/** The two parts of a link of Wharf's; as one pattern, `http:http:http:…` would take the square of its length. */
const WEB = /https?:/i;
const LINK_PATH = /\/(?:d\/|f_)/i;

/** One more than may be is enough to tell: each of them would be asked for in the state store. */
async function filesIn(args: JsonObject, slots: readonly FileSlot[], deps: ArgumentDeps): Promise<FileUse[]> {
  const files: FileUse[] = [];
  let passing = 0;
  for (const slot of slots) {
    await breathe();
    for (const use of valuesIn(args, slot)) {
      const reading = readingOf(use, deps);
      const passes = reading?.kind === 'remote' && passesBetween(slot, deps.client, deps.dialects);
      passing += passes ? 1 : 0;
      if (!reading || (passes && passing <= deps.limits.files && !(await isOwnLink(reading.url, deps)))) {
        refuseOtherType(use, deps);
        continue;
      }
      files.push({ ...use, reading });
      if (files.length > deps.limits.files) return files;
    }
  }
  return files;
}

/** A server that is given Wharf's own link is given the file: whether it may be is not for the two to agree on. */
async function isOwnLink(url: string, { incoming }: ArgumentDeps): Promise<boolean> {
  return (await incoming.library.handleOfLink(url)) !== undefined;
}

/** What is no file, and nothing else that the server takes there. A text is judged by whoever reads it. */
function refuseOtherType({ slot, path, value, wrap }: SlotUse, { lifts }: ArgumentDeps): void {
  const type = Array.isArray(value) ? 'array' : typeof value;
  if (wrap || type === 'string' || !slot.types || slot.types.has(type)) return;
  if (type === 'number' && slot.types.has('integer')) return;
  const argument = calledAs(slot, path, lifts);
  const kind = /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
  const text = `Argument '${argument}' is ${kind}, and takes a file: pass a file handle (mcp-file://…).`;
  throw new GatewayError('file_refused', { reason: 'malformedUri', argument, text });
}

/** The newest call is the one that may be too much. */
function refuseTooMany(calls: readonly Call[], { limits: { files, filesPerArgument }, lifts }: ArgumentDeps): void {
  const uses = calls.at(-1)?.uses ?? [];
  const orMore = uses.length > files ? ' or more' : '';
  const refused = (argument: string, text: string, passed: { limit: string; allowed: number; actual: number }) =>
    new GatewayError('file_refused', { reason: 'tooManyFiles', argument, text, ...passed });
  const counts = new Map<string, number>();
  for (const { slot, path } of uses) {
    if (typeof path.at(-1) !== 'number') continue;
    const argument = calledAs(slot, path.slice(0, -1), lifts);
    const count = (counts.get(argument) ?? 0) + 1;
    counts.set(argument, count);
    const allowed = slot.maxItems ?? filesPerArgument;
    if (count <= allowed) continue;
    const limit = slot.maxItems === undefined ? 'limits.filesPerArgument' : 'maxItems of the argument';
    const actual = uses.filter((use) => calledAs(use.slot, use.path.slice(0, -1), lifts) === argument).length;
    const text = `Argument '${argument}' has ${actual} files${orMore}; it takes at most ${allowed}.`;
    throw refused(argument, text, { limit, allowed, actual });
  }
  const total = calls.reduce((sum, call) => sum + call.uses.length, 0);
  if (total <= files) return;
  const last = uses.at(-1);
  const argument = last ? calledAs(last.slot, last.path, lifts) : '';
  const text = `With argument '${argument}' there are ${total} files${orMore}; a call takes at most ${files}.`;
  throw refused(argument, text, { limit: 'limits.files', allowed: files, actual: total });
}

/** A list that the server would refuse is not encoded for it first. */
function refuseTooFew({ args, uses }: Call, { lifts }: ArgumentDeps): void {
  for (const { slot, path, wrap } of uses) {
    const { minItems = 0 } = slot;
    const list = wrap ? path : path.slice(0, -1);
    const items = wrap ? 1 : valueAt(args, list);
    const count = Array.isArray(items) ? items.length : 1;
    if (slot.path.at(-1) !== EACH || count >= minItems) continue;
    const argument = calledAs(slot, list, lifts);
    const text = `Argument '${argument}' has ${count} files; it takes at least ${minItems}.`;
    throw new GatewayError('file_refused', { reason: 'tooFewFiles', argument, text });
  }
}

async function writeCall(
  { name, base, args, uses, tool }: Call,
  files: IncomingFiles,
  located: Located,
  deliveries: Deliveries,
  deps: ArgumentDeps,
  edits: OutgoingEdit[],
  headers: Record<string, string>,
): Promise<HandedOver[]> {
  const companions = new Companions(args);
  const handed: HandedOver[] = [];
  for (const use of uses) {
    const range = located.at([...base, ...use.path]);
    if (!range) continue;
    const { reading } = use;
    const argument = calledAs(use.slot, use.path, deps.lifts);
    const maxSize = deliveries.maxSize(use.slot);
    const file = await files.open(reading, {
      slot: use.slot,
      tool: name,
      argument,
      maxSize,
      maxInline: deps.limits.inlineArgument,
    });
    companions.add(use, file);
    handed.push({ argument, file });
    const header = deps.hasParamHeaders ? headerOf(use, tool) : undefined;
    const delivery = deliveries.choose(use.slot, file, argument);
    const { value: given } = use;
    // quotes and blanks around it were the client's, and are not for the server
    const isWhole = typeof given === 'string' && 'text' in reading && reading.text === given && !use.wrap;
    if (isWhole && passesAsItIs(reading, use.slot, delivery, file)) {
      if (header) headers[header] = encodeHeaderValue(short(given, argument, given.length));
      continue;
    }
    const value = await deliveries.write(use.slot, delivery, file, argument);
    const pieces = use.wrap ? [Buffer.from('['), ...value.pieces, Buffer.from(']')] : value.pieces;
    edits.push({ start: range.start, end: range.end, length: value.length + (use.wrap ? 2 : 0), pieces });
    if (header) {
      const text = await deliveries.asText(value, MAX_HEADER_JSON);
      headers[header] = encodeHeaderValue(short(text, argument, value.length));
    }
  }
  addAll(edits, companions.edits(located, base));
  if (deps.hasParamHeaders) Object.assign(headers, companions.headers(tool?.paramHeaders ?? []));
  return handed;
}

function readingOf({ value, slot }: SlotUse, { dialects }: ArgumentDeps): ArgumentReading | undefined {
  for (const dialect of dialects) {
    const reading = dialect.readArgument?.(value, slot);
    if (reading) return reading;
  }
  return undefined;
}

/**
 * What a client spelled as the server wants it is not spelled again (SEP-2356: forwarded verbatim). A server that
 * declares nothing of the kind is given what it has always taken: padded base64.
 */
function passesAsItIs(reading: ArgumentReading, slot: FileSlot, delivery: Delivery, file: IncomingFile): boolean {
  if (delivery.kind !== 'encoded') return false;
  if (delivery.encoding === 'base64') return reading.kind === 'base64';
  if (reading.kind !== 'dataUri') return false;
  const written = reading.text.slice(0, reading.text.indexOf(',')).split(';').slice(1);
  const parameters = written.map((parameter) => parameter.toLowerCase());
  const names = parameters.filter((parameter) => parameter.startsWith('name='));
  const isNamed = delivery.encoding === 'dataUriNamed' && written.includes(nameParameter(file.name));
  if (names.length > 1 || (file.hasName && !isNamed)) return false;
  const base64 = parameters.indexOf('base64');
  // what some readers take for a name would stand behind
  if (base64 >= 0 && base64 < parameters.length - 1) return false;
  if (slot.declaredBy === 'config' && (base64 < 0 || !isPadded(reading.text, file.size))) return false;
  return delivery.encoding === 'dataUri' || (delivery.encoding === 'dataUriNamed' && base64 >= 0);
}

/** Whether the data of a URI is base64 as encoders write it: padded, and with nothing percent-encoded. */
function isPadded(uri: string, size: number): boolean {
  const data = uri.slice(uri.indexOf(',') + 1);
  return data.length === Math.ceil(size / 3) * 4 && !data.includes('%');
}

function headerOf(use: SlotUse, tool: ToolFacts | undefined): string | undefined {
  return tool?.paramHeaders.find(({ path }) => path.join('.') === use.slot.path.join('.'))?.header;
}

/** @param length of the value as JSON, where it is so long that it was not read */
function short(value: JsonValue | undefined, argument: string, length: number): string {
  const text = typeof value === 'string' ? value : undefined;
  const actual = text === undefined ? length : Buffer.byteLength(text);
  if (text !== undefined && actual <= MAX_HEADER_BYTES) return text;
  const sizes = contrast(MAX_HEADER_BYTES, actual);
  const limit = `the server wants it in a header as well, which takes at most ${sizes.allowed}; it would have ${sizes.actual}`;
  throw new GatewayError('file_refused', {
    reason: 'maxSizeExceeded',
    argument,
    text: `Argument '${argument}' is too long: ${limit}.`,
    maxSize: MAX_HEADER_BYTES,
    actualSize: actual,
  });
}

/** Over stdio a line too long ends the server's process, and with it everybody's work there. */
function refuseTooLong(message: OutgoingMessage, calls: readonly Call[], deps: ArgumentDeps): void {
  const { accepts, owner, lifts } = deps;
  if (message.length <= accepts) return;
  const argument = calls.flatMap(({ uses }) => uses.map(({ slot, path }) => calledAs(slot, path, lifts))).join(', ');
  const sizes = contrast(accepts, message.length);
  const text =
    `The server "${owner.server}" takes messages of at most ${sizes.allowed}; with the files in ${argument} this one ` +
    `has ${sizes.actual}. Pass fewer or smaller files.`;
  throw new GatewayError('file_refused', {
    reason: 'maxSizeExceeded',
    argument,
    text,
    maxSize: accepts,
    actualSize: message.length,
    limit: `servers.${owner.server}.accepts`,
    allowed: accepts,
    actual: message.length,
  });
}

/** Everything that may have to be found for one value: each object above it, and its companions. */
function waysTo(base: JsonPath, { slot, path }: SlotUse): JsonPath[] {
  const full = [...base, ...path];
  const above = full.map((_, length) => full.slice(0, length + 1));
  const { name, mimeType, size } = slot.companions;
  const beside = [name, mimeType, size].filter((companion) => companion !== undefined);
  return [...above, ...beside.map((companion) => [...base, ...companionPath(companion, path)])];
}
