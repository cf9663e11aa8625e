import type { Authorization } from '../../files/uploads/upload-links.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { Asked, Caller, Sender } from '../caller.js';
import type { PendingRequest } from '../pending-request.js';
import type { AskedReply } from './asked-reply.js';

/** A call on whose stream its client can be asked. */
export interface OpenCall {
  asked: Asked;
  request: PendingRequest;
  reply: AskedReply;
  /** Aborted when the client has cancelled it. */
  ended: AbortSignal;
}

/** A stream on which a server may ask by itself. */
export interface AskedStream {
  caller: Caller;
  /** The call that the stream answers; none for a session's GET stream. */
  request: PendingRequest | undefined;
  reply: AskedReply;
  /** Aborted when the client has cancelled the call. */
  cancelled: AbortSignal;
  /** Aborted when the client has gone. */
  left: AbortSignal;
}

/** How a call goes on. */
export interface Course {
  /** To the server. @throws what it fails with before it is answered */
  forward: (asked: Asked) => Promise<void>;
  /**
   * Answers a call that cannot be made as it is; throws on what is not about a file.
   * @param offered the right to the upload that the answer is to name, where there is one already
   */
  refuse: (error: unknown, asked: Asked, offered?: Authorization) => Promise<void>;
  /** Asks the server in the sender's session. */
  inquire: (sender: Sender) => Inquire;
}
