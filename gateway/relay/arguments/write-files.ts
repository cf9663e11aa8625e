import { GatewayError } from '../../errors.js';
import { nameParameter } from '../../files/encode/data-uri.js';
import { joined, type Written } from '../../json/written.js';
import { encodeHeaderValue } from '../../mcp/headers.js';
import { contrast } from '../../policy/amounts.js';
import type { ArgumentReading } from '../../ports/dialect.js';
import type { Delivery, FileSlot } from '../../ports/file-slot.js';
import type { ToolFacts } from '../../tools/tool.js';
import { addAll } from '../../wire/add-all.js';
import type { SlotUse } from '../tools/file-slots.js';
import { Companions } from './companions.js';
import { asText } from './deliveries.js';
import { type IncomingFile, IncomingFiles } from './incoming-files.js';
import { type Call, type FileUse, type HandedOver, nameIn, ofCall, type Post, rulesOf } from './post.js';

/** A header repeats an argument (SEP-2243), but must not contain megabytes. */
const MAX_HEADER_BYTES = 4096;

/** Longest JSON of such a value: every byte an escape, between quotes. */
const MAX_HEADER_JSON = MAX_HEADER_BYTES * 6 + 2;

/** What has become of the files of a call. */
type Handed = Pick<Post, 'handed' | 'headers'>;

/** Writes the files in the form that the server takes, and fills in their companions. @throws GatewayError */
export async function writeFiles(post: Post): Promise<Post> {
  const handed: HandedOver[] = [...post.handed];
  const headers = { ...post.headers };
  for (const call of post.calls) {
    const own = await ofCall(call, post, () => writeCall(call, post));
    addAll(handed, own.handed);
    Object.assign(headers, own.headers);
  }
  return { ...post, handed, headers };
}

async function writeCall(call: Call, post: Post): Promise<Handed> {
  const { name, base, args, uses, tool } = call;
  const { context, edits } = post;
  const { deps, principal, identity: who, by, signal, hasParamHeaders } = context;
  const files = new IncomingFiles(deps.incoming, { principal, server: deps.server, who, by }, signal);
  const companions = new Companions(args);
  const handed: HandedOver[] = [];
  const headers: Record<string, string> = {};
  for (const use of uses) {
    const { slot, reading } = use;
    if (!edits.has([...base, ...use.path])) continue;
    const argument = nameIn(call, use, context);
    const rules = rulesOf(slot, { tool: name, argument }, context);
    const one = { argument, file: await files.open(reading, rules) };
    companions.add(use, one.file);
    handed.push(one);
    const value = await valueIn(use, one, post);
    if (value) edits.write([...base, ...use.path], use.wrap ? joined(['[', value, ']']) : value);
    const header = hasParamHeaders ? headerOf(use, tool) : undefined;
    if (header !== undefined) headers[header] = await repeated(use, argument, value);
  }
  for (const { path, value } of companions.values()) edits.set([...base, ...path], value);
  if (hasParamHeaders) Object.assign(headers, companions.headers(tool?.paramHeaders ?? []));
  return { handed, headers };
}

/** The argument's new value; undefined when the client's stays. */
async function valueIn(
  use: FileUse,
  { argument, file }: HandedOver,
  { deliveries }: Post,
): Promise<Written | undefined> {
  const { slot, reading, value } = use;
  const delivery = deliveries.choose(slot, file, argument);
  // quotes and blanks around it are the client's, and must not reach the server
  const isWhole = typeof value === 'string' && 'text' in reading && reading.text === value && !use.wrap;
  if (isWhole && passesAsItIs(reading, slot, delivery, file)) return undefined;
  return deliveries.write(slot, delivery, file, argument);
}

/**
 * True for a value that already has the server's form (SEP-2356: forwarded verbatim). A server without such a
 * declaration gets padded base64 as always.
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
  // some readers would take what follows for a name
  if (base64 >= 0 && base64 < parameters.length - 1) return false;
  if (slot.declaredBy === 'config' && (base64 < 0 || !isPadded(reading.text, file.size))) return false;
  return delivery.encoding === 'dataUri' || (delivery.encoding === 'dataUriNamed' && base64 >= 0);
}

/** True when the data of a URI is base64 as encoders write it: padded, and without percent-encoding. */
function isPadded(uri: string, size: number): boolean {
  const data = uri.slice(uri.indexOf(',') + 1);
  return data.length === Math.ceil(size / 3) * 4 && !data.includes('%');
}

function headerOf(use: SlotUse, tool: ToolFacts | undefined): string | undefined {
  return tool?.paramHeaders.find(({ path }) => path.join('.') === use.slot.path.join('.'))?.header;
}

/**
 * A file argument in the form of its header. @param value what was written; undefined when unchanged @throws
 * GatewayError
 */
async function repeated({ value: given }: FileUse, argument: string, value: Written | undefined): Promise<string> {
  const text = value ? await asText(value, MAX_HEADER_JSON) : String(given);
  // for a value too long to be read, its JSON length
  const actual = text === undefined ? (value?.length ?? 0) : Buffer.byteLength(text);
  if (text !== undefined && actual <= MAX_HEADER_BYTES) return encodeHeaderValue(text);
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
