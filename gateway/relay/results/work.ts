import type { Edits } from '../../json/edit.js';
import type { Answer } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Room } from '../client/room.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import type { Addressee, TracedRequest } from '../pending-request.js';
import type { ResultDeps } from './deps.js';
import type { OutgoingFiles } from './outgoing-files.js';

/** A message on its way to the client, for the stages that it goes through. */
export interface Work {
  message: HeldMessage;
  cuts: MessageCuts;
  deps: ResultDeps;
  to: Addressee;
  /** The responses in it, each with the request it answers, if known. */
  answers: readonly (Answer & { request: TracedRequest | undefined })[];
  /** What it says of tasks that no request has asked for: each with the request that would have been answered so. */
  notices: Work['answers'];
  files: OutgoingFiles;
  /** How much longer it may become. */
  room: Room;
  /** The changes of the message. */
  edits: Edits;
  /** Bytes by which the client's own names for its requests make it longer, for which it need not have room. */
  renamed: number;
}
