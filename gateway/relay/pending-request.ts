import type { Edits } from '../json/edit.js';
import type { Inquire } from '../mcp/inquire.js';
import type { ClientRequest } from '../mcp/request.js';
import type { ClientFacts } from '../ports/client.js';
import type { Identity } from '../ports/identity.js';
import type { JsonPath } from '../ports/json.js';
import type { HeldMessage } from '../wire/json/reader.js';
import type { MessageCuts } from './cut/message-cuts.js';
import type { ExchangeFacts } from './exchange.js';

/** A client's request until it is answered, with facts found on the way. */
export interface PendingRequest extends ClientRequest {
  /** Set once files have been found in its arguments: the answer may concern them. */
  hasFiles?: true;
  /** The name under which its client calls the tool, where that is not the server's own. */
  calledAs?: string;
  /** Hears of the task that it has become and that is not over: what was made for it is needed until then. */
  becameTask?: (taskId: string) => void;
  /** Special edits of the answer, in their order, besides those for every answer to its method. */
  edits?: readonly AnswerEdit[];
}

/** File names in the arguments of a call; a list if it concerns several files. */
export type FileNames = string | string[];

/** A request whose tool is known even if it names only a task. */
export interface TracedRequest extends PendingRequest {
  /** For a request of a task's result: the tool that the task runs. */
  readonly taskTool?: string | undefined;
  /** The file names in the call that has become the task. */
  readonly taskNames?: FileNames | undefined;
}

/** The recipient of a message, and the requests that it answers. */
export interface Addressee {
  identity: Identity;
  principal: string;
  client: ClientFacts;
  /** The request that an answer with this id belongs to, if known. */
  answered: (id: string) => PendingRequest | undefined;
  /** The id of the only open request, for an answer that broke off before its own id. */
  onlyOpen?: () => string | undefined;
  inquire: Inquire;
  facts: ExchangeFacts;
  /** As in `Exchange`. */
  address?: string | undefined;
  signal: AbortSignal;
  /** True when the status has already told the client that there is no result. */
  isFailure?: boolean;
  /**
   * Edits that the channel needs in every message, such as restored ids.
   * @returns the bytes by which the message becomes longer
   */
  remap?: (message: HeldMessage, edits: Edits) => number;
}

/** One complete answer in a message on its way to the client, with all its cuts finished. */
export interface EditableAnswer {
  message: HeldMessage;
  cuts: MessageCuts;
  /** Its path: empty, or its index in a batch. */
  base: JsonPath;
  to: Addressee;
  /** What is to be changed in the message. */
  edits: Edits;
}

/** What is to be changed in the answer to a request. */
export interface AnswerEdit {
  /** An error that it throws becomes the answer's error. */
  apply: (answer: EditableAnswer) => void | Promise<void>;
  /** A cheap test, by its bytes, of whether it may change a short message. Without one, it may change any. */
  mayChange?: (message: Buffer) => boolean;
}

/** A call under the server's own name of its tool, which its client knows by the one that it has used. */
export function underOwnName(request: PendingRequest, name: string): PendingRequest {
  const { subject, params } = request;
  return {
    ...request,
    subject: name,
    params: { ...params, name },
    ...(subject !== undefined && { calledAs: subject }),
  };
}

/** The tool that a request calls, by the name that its client knows. */
export function calledName({ calledAs, subject }: PendingRequest): string | undefined {
  return calledAs ?? subject;
}
