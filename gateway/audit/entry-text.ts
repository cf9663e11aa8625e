import { inSight } from '../in-sight.js';
import type { AuditEntry, AuditFile, AuditScan, AuditToken } from '../ports/audit.js';
import { redactText, shortened } from '../redact.js';

/** Characters of one text in an entry; a peer chooses names and URIs. */
const MAX_TEXT = 500;

/** Files of one entry. More are counted. */
const MAX_FILES = 50;

/**
 * The members of an entry's line, in the order in which they are read. Texts of peers are shortened, and cleaned as
 * those of the log are: a person may read them in a terminal too.
 * @param now milliseconds since the epoch
 */
export function entryMembers(entry: AuditEntry, now: number): string {
  const {
    what,
    allowed,
    principal,
    actor,
    client,
    address,
    server,
    method,
    tool,
    subject,
    files,
    from,
    to,
    rule,
    reason,
    token,
    scan,
    outcome,
    config,
    code,
    count,
    since,
  } = entry;
  const text = JSON.stringify({
    time: new Date(now).toISOString(),
    what,
    allowed,
    // two callers must not look like one
    principal: principal === undefined ? undefined : shortened(principal),
    actor: shown(actor),
    client: shown(client),
    address,
    server,
    method: shown(method),
    tool: shown(tool),
    subject: shown(subject),
    from,
    to,
    rule: shown(rule),
    reason: shown(reason),
    token: token && shownToken(token),
    scan: scan && shownScan(scan),
    outcome,
    config,
    code,
    count,
    since,
    files: files?.slice(0, MAX_FILES).map(shownFile),
    moreFiles: files !== undefined && files.length > MAX_FILES ? files.length - MAX_FILES : undefined,
  });
  return inSight(text.slice(1, -1));
}

function shownFile({ id, digest, size, mimeType }: AuditFile): AuditFile {
  return { id, digest, size, mimeType: shown(mimeType) };
}

function shownToken({ issuer, client, id, claimed }: AuditToken): AuditToken {
  return { issuer: shown(issuer), client: shown(client), id: shown(id), claimed };
}

function shownScan({ verdict, signature, database }: AuditScan): AuditScan {
  return { verdict, signature: shown(signature), database: shown(database) };
}

function shown(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return redactText(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
}
