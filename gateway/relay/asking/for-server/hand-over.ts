import { GatewayError } from '../../../errors.js';
import type { FileRecord } from '../../../files/file.js';
import { ruleAgainst } from '../../../files/names/accepted-type.js';
import type { Inquire } from '../../../mcp/inquire.js';
import { contrast } from '../../../policy/amounts.js';
import type { AuditCause, AuditEntry } from '../../../ports/audit.js';
import type { FileAsking, GivenFile, ServerFile } from '../../../ports/file-question.js';
import type { Identity } from '../../../ports/identity.js';
import type { JsonValue } from '../../../ports/json.js';
import type { AskingDeps } from '../deps.js';
import { largestFor, wantsUploaded } from './wanted-file.js';

/** A file in an answer exists at one time as bytes, as base64, in the text of the answer and in its bytes. */
const COPIES = 4;

/** Stored files for one field of the server's question. */
interface Handed {
  wanted: ServerFile;
  records: readonly [FileRecord, ...FileRecord[]];
  /** Hears how many bytes of them have gone, and of which file the last ones were. */
  sent: (bytes: number, name: string) => void;
}

/** What is needed to hand over files. */
export interface HandOver {
  deps: Pick<
    AskingDeps,
    'deliver' | 'upload' | 'library' | 'log' | 'metrics' | 'flow' | 'audit' | 'server' | 'limits' | 'accepts'
  >;
  principal: string;
  identity: Identity;
  /** For the audit log. */
  by: AuditCause;
  /** Asks the server in the session in which it asks. */
  inquire: Inquire;
  signal: AbortSignal;
  /** Counts bytes that are kept. @throws GatewayError `held_full` */
  hold: (bytes: number) => void;
}

/** Brings files to the server. @returns what the answer says about them @throws GatewayError */
export async function handOver(
  { wanted, records, sent }: Handed,
  asks: FileAsking,
  context: HandOver,
): Promise<JsonValue> {
  const { deps, principal, signal } = context;
  const { endpoint, name: argument } = wanted;
  for (const record of records) {
    refuseUnfit(record, wanted, context);
    await refuseKept(record, argument, context);
  }
  // a server gets a file only if that is recorded
  if (deps.audit.isOn) {
    for (const record of records) await deps.audit.record({ ...entryOf(record, context), allowed: true });
  }
  if (endpoint) await deps.deliver({ files: records, endpoint, sent }, signal);
  const isUploaded = wantsUploaded(wanted, records, deps);
  const given: GivenFile[] = [];
  let done = 0;
  for (const record of records) {
    const { name, mimeType, size, digest, id } = record;
    if (endpoint) given.push({ name, mimeType, size });
    else if (!isUploaded) given.push({ name, mimeType, size, base64: await base64Of(record, context) });
    else {
      const uri = await deps.upload({ file: record, argument, principal, inquire: context.inquire }, signal);
      given.push({ name, mimeType, size, uri });
      done += size;
      sent(done, name);
    }
    deps.log.info({ principal, argument, uploadId: endpoint?.id, file: id, size, digest }, 'a file was handed over');
  }
  return asks.toServer(given, wanted);
}

/**
 * What was given for an upload may fit that, and not the limits: these have changed since, or name no type that the server
 * accepts. @throws GatewayError
 */
function refuseUnfit(record: FileRecord, wanted: ServerFile, context: HandOver): void {
  const { deps } = context;
  const { name: argument } = wanted;
  const { mimeType, size } = record;
  const against = ruleAgainst(deps.limits.accept, { ...record, hasName: true });
  const most = largestFor(wanted, deps);
  if (!against && size <= most) return;
  const { source } = against ?? {};
  const limit = against ? 'limits.accept' : 'limits.file';
  deps.audit.note({ ...entryOf(record, context), allowed: false, rule: source ?? limit, code: 'file_refused' });
  deps.metrics.count('wharf_limits_total', { limit });
  const { allowed, actual } = contrast(most, size);
  const why = against
    ? `it is ${mimeType}, and ${source} allows ${against.types.join(', ')}`
    : `it has ${actual}, and may have ${allowed}`;
  const text = `The file for '${argument}' may not be given to the server "${deps.server}": ${why}.`;
  const reason = against ? 'mimeTypeNotAccepted' : 'maxSizeExceeded';
  throw new GatewayError('file_refused', { reason, argument, text, limit, ...(source !== undefined && { source }) });
}

/** A rule may keep these bytes from the server, wherever they have come from before. @throws GatewayError */
async function refuseKept(record: FileRecord, argument: string, context: HandOver): Promise<void> {
  const { deps, identity: who } = context;
  const { flow, audit, server: to } = deps;
  const answer = await flow?.decide({ who, from: record.server, to, file: record });
  if (!answer || answer.kind === 'allowed') return;
  const code = 'file_refused';
  const { place: rule } = answer.rule;
  audit.note({ ...entryOf(record, context), from: answer.origins[0], allowed: false, rule, code });
  const text = `The file for '${argument}' may not be given to the server "${to}": ${rule} keeps it from there.`;
  throw new GatewayError(code, { reason: 'handoffDenied', argument, text, rule });
}

/** What the audit log says of a file on its way to the server. */
function entryOf(record: FileRecord, { deps, principal, by }: HandOver): Omit<AuditEntry, 'allowed'> {
  const { server } = deps;
  return { what: 'handoff', principal, ...by, server, from: record.server, to: server, files: [record] };
}

/** Small: it goes into a message. */
async function base64Of(file: FileRecord, { deps, signal, hold }: HandOver): Promise<string> {
  hold(Math.ceil(file.size / 3) * 4 * COPIES);
  const chunks: Buffer[] = [];
  const read = await deps.library.read(file, signal);
  if (read.kind !== 'found') throw new GatewayError('file_gone');
  for await (const chunk of read.body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('base64');
}
