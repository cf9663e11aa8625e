import type { HeldBudget } from '../../budget/held.js';
import type { Ledger } from '../../budget/ledger.js';
import type { FileRecord } from '../../files/file.js';
import type { Flow } from '../../files/flow/flow.js';
import type { Library } from '../../files/library.js';
import type { Uploads } from '../../files/uploads/upload.js';
import type { Authorization, UploadLinks } from '../../files/uploads/upload-links.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { Means } from '../../policy/means.js';
import type { ServerFile } from '../../ports/file-question.js';
import type { Seal } from '../../secrets/seal.js';
import type { CommonDeps } from '../common-deps.js';
import type { TaskTools } from '../results/tool/tool-of-task.js';
import type { Sessions } from '../session.js';
import type { PutOffLinks } from './put-off.js';
import type { Questions } from './questions.js';
import type { TaskQuestions } from './tasks/task-questions.js';

/** Stored files on their way to the address that the server has named for them, all in one request. */
interface Delivery {
  files: readonly [FileRecord, ...FileRecord[]];
  endpoint: NonNullable<ServerFile['endpoint']>;
  /** Hears, each time, how many bytes of them have gone, and of which file the last ones were. */
  sent: (bytes: number, name: string) => void;
}

/** A stored file that goes to the server by the server's own protocol. */
interface Upload {
  file: FileRecord;
  /** The field that it is for. */
  argument: string;
  principal: string;
  inquire: Inquire;
}

/** What this room works with. */
export interface AskingDeps
  extends Pick<
    CommonDeps,
    | 'server'
    | 'accepts'
    | 'dialects'
    | 'limits'
    | 'toolLimits'
    | 'timeouts'
    | 'clock'
    | 'log'
    | 'fewLines'
    | 'metrics'
    | 'audit'
  > {
  /** `elicitation.order` */
  order: readonly Means[];
  /** `elicitation.rounds` */
  rounds: number;
  uploadLinks: Pick<UploadLinks, 'authorize' | 'admit' | 'revoke' | 'given' | 'link' | 'inspect'>;
  uploads: Pick<Uploads, 'receive' | 'receiveAll'>;
  library: Pick<Library, 'find' | 'read' | 'claims' | 'resolve'>;
  questions: Questions;
  sessions: Pick<Sessions, 'hasEnded'>;
  putOff: PutOffLinks;
  taskQuestions: TaskQuestions;
  /** Which tools tasks run. */
  taskTools: Pick<TaskTools, 'toolOf'>;
  /** Absent: every file may go to every server. */
  flow: Pick<Flow, 'consents' | 'decide'> | undefined;
  /** Files are scanned for viruses. */
  isScanned: boolean;
  /** How a file is uploaded, and what to do `then` with its handle, in words for a model. */
  steps: (offered: Authorization, then: string) => string;
  held: HeldBudget;
  /** @throws GatewayError */
  deliver: (delivery: Delivery, signal: AbortSignal) => Promise<void>;
  /** @returns the URI that the field takes then @throws GatewayError */
  upload: (upload: Upload, signal: AbortSignal) => Promise<string>;
  /** Counts the calls that wait for a person: of `limits.questions`. */
  waiting: Ledger;
  /** Of what clients keep for Wharf between two calls. */
  seal: Seal;
  /** Wharf is about to end. */
  isDraining: () => boolean;
}
