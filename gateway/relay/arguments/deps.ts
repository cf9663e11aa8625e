import type { FileRecord } from '../../files/file.js';
import type { UploadLinks } from '../../files/uploads/upload-links.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { AuditCause } from '../../ports/audit.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Identity } from '../../ports/identity.js';
import type { JsonObject } from '../../ports/json.js';
import type { ToolDeps } from '../tools/deps.js';
import type { IncomingFile, IncomingFileDeps } from './incoming-files.js';

/** The dependencies for reading and writing files in a call. */
export interface CallDeps extends ToolDeps {
  incoming: IncomingFileDeps;
  uploadLinks: UploadLinks;
  /** The `elicitation` that is declared for this client, where that is more than its own. */
  elicitation: (client: ClientFacts) => JsonObject | undefined;
  /** Stores a file from inside a call, with a handle and a link. */
  storeInline: (file: IncomingFile, principal: string, signal: AbortSignal) => Promise<FileRecord>;
}

/** The caller, and the route of the calls. */
export interface CallContext {
  deps: CallDeps;
  principal: string;
  identity: Identity;
  /** For the audit log. */
  by: AuditCause;
  /** Asks the server in the session of the current exchange. */
  inquire: Inquire;
  signal: AbortSignal;
}
