import type { Edit } from '../json/edits.js';
import type { Inquire } from '../mcp/inquire.js';
import type { ClientRequest } from '../mcp/request.js';
import type { ClientFacts } from '../ports/client.js';
import type { JsonPath } from '../ports/json.js';
import type { HeldMessage } from '../wire/json/reader.js';
import type { MessageCuts } from './cut/message-cuts.js';
import type { ExchangeFacts } from './exchange.js';

/** A client's request until it is answered, with what is found out about it on the way. */
export interface PendingRequest extends ClientRequest {
  /** Of what brings a task's result: the tool that the task runs, once that is known. */
  tool?: string | undefined;
  /** Set once files have been found in its arguments: what answers it may be about them. */
  hasFiles?: true;
  /** What becomes of the answer, beside what holds for every answer to its method. */
  edit?: AnswerEdit;
}

/** For whom a message is, and what it answers. */
export interface Addressee {
  principal: string;
  client: ClientFacts;
  /** The request that an answer with this id belongs to, where that is known. */
  answered: (id: string) => PendingRequest | undefined;
  /** The id of the only request that is open, for an answer that broke off before its own id came. */
  onlyOpen?: () => string | undefined;
  inquire: Inquire;
  facts: ExchangeFacts;
  signal: AbortSignal;
  /** True when the status has told the client already that there is no result. */
  isFailure?: boolean;
  /** Edits that the channel needs in every message, such as ids mapped back. */
  remap?: (message: HeldMessage) => Edit[];
}

/** One answer of a message on its way to the client, complete and with all that was cut out of it settled. */
export interface EditableAnswer {
  message: HeldMessage;
  cuts: MessageCuts;
  /** Where it stands: nothing, or its index in a batch. */
  base: JsonPath;
  to: Addressee;
}

/** Whatever is thrown becomes the answer's error. */
export type AnswerEdit = (answer: EditableAnswer) => Edit[] | Promise<Edit[]>;
