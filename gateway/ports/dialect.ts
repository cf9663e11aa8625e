import type { Limits } from '../policy/limits.js';
import type { ClientFacts } from './client.js';
import type { FileClaims, FileRef } from './file.js';
import type { FileSlot } from './file-slot.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from './json.js';
import type { ResourceStreaming } from './resource-streaming.js';

export type { JsonObject, JsonPatch, JsonPath, JsonValue } from './json.js';

/**
 * What kind of object a file stands in, which decides its limits and what may replace it:
 * - `content`: one block of a tool result's `content[]`; any number of blocks may take its place;
 * - `prompt`: the one content block of a prompt message; exactly one block takes its place;
 * - `resource`: one item of `resources/read`'s `contents[]`; exactly one item takes its place.
 */
export type HolderKind = 'content' | 'prompt' | 'resource';

/** A place in an upstream's message where a file may stand. */
export interface SlotPlace {
  /** Name of the place, unique among all dialects: `<dialect>/<place>`. */
  readonly name: string;
  /**
   * Where the string stands, below the `result` of an answer: `content[].data`. Dots nest, `[]` is every item.
   */
  readonly path: string;
  /** Where the object that is replaced stands, a beginning of `path`: `content[]`. */
  readonly holder: string;
  readonly kind: HolderKind;
  /** `base64`: the whole string. `dataUri`: the string is a file only if it is wholly a base64 `data:` URI. */
  readonly encoding: 'base64' | 'dataUri';
}

export interface Preview {
  mimeType: string;
  base64: string;
  /** Pixels. */
  width: number;
  height: number;
  /** Pixels of the image itself. */
  source: { width: number; height: number };
}

/** A stored file about to be written into a message. */
export interface OutgoingFile {
  ref: FileRef;
  preview?: Preview;
  /** What a model can do with its handle; absent: nothing that it has been shown. */
  uses?: HandleUses;
}

/** What takes a handle. */
export interface HandleUses {
  /** Some tool takes files. */
  isTaken: boolean;
  /** Name of the tool that gives new links. */
  linkTool?: string;
}

/** Mine, with what the holder says of the file, or not a file at all. */
export type SlotReading = { kind: 'mine'; claims: FileClaims; inlineLimit: 'image' | 'other' } | { kind: 'not-mine' };

/** A value that a client put into a file slot. */
export type ArgumentReading =
  /** A handle of Wharf's, or what claims to be one. */
  | { kind: 'handle'; uri: string }
  /** An address: a download link of Wharf's own, or nothing that will be followed. */
  | { kind: 'link'; url: string }
  /** An address of somebody else's that the client's host vouches for, to be fetched under the rules for that. */
  | { kind: 'remote'; url: string; claims: FileClaims }
  | { kind: 'dataUri'; text: string; claims: FileClaims }
  | { kind: 'base64'; text: string; claims: FileClaims }
  | { kind: 'text'; text: string; claims: FileClaims }
  | { kind: 'invalid'; reason: FileReason; text: string };

/** Why a file is refused; SEP-2631's words, and in their style what it has none for. */
export type FileReason =
  | 'maxSizeExceeded'
  | 'mimeTypeNotAccepted'
  | 'malformedUri'
  | 'schemeNotAllowed'
  | 'unreachable'
  | 'digestMismatch'
  | 'sizeMismatch'
  | 'unsupportedDigestAlgorithm'
  | 'invalidDigest'
  | 'invalidSize'
  | 'invalidMimeType'
  | 'fileNotFound'
  | 'fileExpired'
  | 'uploadIncomplete'
  | 'transferModeNotAllowed'
  | 'quotaExceeded'
  | 'notText'
  | 'rejectedByPolicy'
  | 'handoffDenied'
  | 'maxStreamSizeExceeded'
  | 'streamNotSupported'
  | 'resourceNotFound'
  | 'tooManyFiles'
  | 'tooFewFiles';

/** A slot in a tool that is shown to a client. */
export interface ShownSlot {
  slot: FileSlot;
  /** Of one among the tool's top-level arguments, by nature or because it was lifted there: the argument's name. */
  name?: string;
  /** Where its schema stands below the tool; local references on the way have been resolved. */
  at: JsonPath;
  schema: JsonObject;
  /** The same as the server declared it, before any dialect. */
  declared: JsonObject;
  /** Bytes: what can really be handed over, all limits considered. */
  maxSize: number;
  /** Bytes: the same inside a call. */
  maxInline: number;
  /** Of an array: the most files it takes. */
  maxItems?: number;
  /** Name of the tool that gives an upload link, where there is one. */
  uploadTool?: string;
}

/** A file argument that cannot be used, told before the server is asked. */
export interface FileRefusal {
  reason: FileReason;
  /** Dotted, with indexes: `pages[2].data`. */
  argument: string;
  /** For the model: names the argument, the constraint and the actual value. */
  text: string;
  maxSize?: number;
  actualSize?: number;
  accept?: readonly string[];
  actualType?: string;
}

/** Bytes to be moved between Wharf and an address that an upstream named. */
export interface TransferDescriptor {
  method: 'GET' | 'PUT' | 'POST';
  url: string;
  headers: Record<string, string>;
  multipart?: { fileField: string; fields: Record<string, string> };
  /** When it is over, milliseconds since the Unix epoch by the upstream's clock; absent where that is not said. */
  expiresAt?: number;
}

/** What an upstream is told of a file before it is uploaded there. */
export interface FileFacts {
  name: string;
  mimeType: string;
  size: number;
  /** SHA-256, base64url without padding. */
  digest: string;
}

/** A request of Wharf's own to a peer. */
export interface OwnRequest {
  method: string;
  params: JsonObject;
}

/** A file that an upstream keeps and only names in a result. */
export interface RemoteFile {
  /** The object that names it, below the result. */
  path: JsonPath;
  /** `value`: it is an object in structuredContent, which keeps its shape. */
  kind: HolderKind | 'value';
  /** The upstream's own URI. */
  uri: string;
  claims: FileClaims;
  size?: number;
  /** SHA-256, base64url without padding. */
  digest?: string;
  /** An object in structuredContent that may be something else: what the server does not give out stays as it is. */
  isGuess?: boolean;
}

/** Why a peer refused a file. */
export interface TransferRefusal {
  reason: FileReason;
  maxSize?: number;
  actualSize?: number;
}

/** How files are moved to and from an upstream that has a protocol of its own for it. */
export interface RemoteTransfer {
  /** Asked in turn, as long as the upstream does not know the method. */
  uploadRequests(file: FileFacts, revision: string): readonly OwnRequest[];
  /** Where the bytes go, what stands in the argument afterwards, and what must be asked in between. */
  readUpload(
    request: OwnRequest,
    result: JsonObject,
    revision: string,
  ):
    | { descriptor: TransferDescriptor; argument: JsonValue; size?: number; digest?: string; complete?: OwnRequest }
    | undefined;
  downloadRequests(uri: string): readonly OwnRequest[];
  readDownload(
    request: OwnRequest,
    result: JsonObject,
  ): { descriptor: TransferDescriptor; size?: number; digest?: string } | undefined;
  /** What the `data` of an error, or the body of an upload's answer, says of a refused file. */
  readRefusal(data: JsonValue | undefined): TransferRefusal | undefined;
  /** Texts of which an answer to this method holds one wherever it names a file: a cheap look before it is parsed. */
  marks(method: string): readonly string[];
  /** Files named in a result of the upstream's. */
  remoteFiles(result: JsonObject): readonly RemoteFile[];
  /**
   * How an object of structuredContent names Wharf's file instead, below the object; an empty path is the whole.
   * @param fixed the object must keep the members it has: its schema was declared
   */
  rename(value: JsonObject, file: OutgoingFile, client: ClientFacts, fixed: boolean): readonly JsonPatch[];
}

/** What a dialect's own JSON-RPC method asks of Wharf. */
export type FileOperation =
  | { kind: 'authorizeUpload'; name?: string; mimeType?: string; size?: number; digest?: string }
  | { kind: 'authorizeDownload'; uri: string }
  | { kind: 'stat'; uri: string };

/** And what became of it. */
export type FileOutcome =
  | {
      kind: 'upload';
      file: Partial<FileFacts> & { uri: string };
      upload: { url: string; expiresAt: string };
    }
  | { kind: 'download'; uri: string; ref: FileRef }
  | { kind: 'stat'; uri: string; ref: FileRef };

/** A JSON-RPC method of a dialect, which Wharf answers itself. */
export interface DialectMethod {
  /** @throws GatewayError `params_invalid` */
  read(params: JsonObject): FileOperation;
  write(outcome: FileOutcome, client: ClientFacts): JsonObject;
  /** The `data` of the error with which a file is refused; undefined: Wharf's own. */
  refuse?(refusal: MethodRefusal): JsonObject | undefined;
}

/** Why a method of a dialect's was refused. */
export interface MethodRefusal {
  reason: string;
  maxSize?: number;
  actualSize?: number;
}

/**
 * One way in which peers write files on the wire: pure functions around one neutral file model. No I/O, no clock.
 */
export interface Dialect {
  readonly name: string;
  /** What speaking it means for a client, in one sentence that follows the name, for the reference of the config. */
  readonly about: string;
  /** The `clientInfo.name` of a client that speaks it and cannot declare it, as `clients:` writes it. */
  readonly undeclaredBy?: string;
  /** Which text of the specification it follows. */
  readonly revision: string;
  /** Where upstreams that speak it put files. */
  readonly places: readonly SlotPlace[];
  /** True when a client with these facts understands what `write` makes. */
  spokenBy(client: ClientFacts): boolean;
  /** Reads the holder of a file; the file's own string is empty in it. `mimeType` is a data URI's own, if it was one. */
  read(place: SlotPlace, holder: JsonObject): SlotReading;
  /** What takes the holder's place in a message to this client. */
  write(place: SlotPlace, file: OutgoingFile, holder: JsonObject, client: ClientFacts): JsonObject[];

  // client → upstream; a dialect leaves out what it has nothing to say to

  /**
   * Names of the capabilities of clients that it reads, as they stand in `ClientFacts`: of a session nothing else of what
   * its client declared is kept.
   */
  readonly reads?: readonly string[];
  /** Capabilities that Wharf declares to every upstream, since it has them whatever the client has. */
  readonly declares?: JsonObject | ((limits: Limits) => JsonObject);
  /** File slots that a tool's own declaration names. */
  slotsOf?(tool: JsonObject): readonly FileSlot[];
  /**
   * What a client sees of a tool with these slots. The dialects are asked in turn, the last one of the list first, and
   * each sees the tool as the one before left it: paths are below the tool. A tool without slots is asked about too.
   */
  showTool?(tool: JsonObject, slots: readonly ShownSlot[], client: ClientFacts): readonly JsonPatch[];
  /**
   * True for a client that spells files as a server of this dialect takes them: then neither the slots it declares nor
   * the addresses in them are touched.
   */
  passes?(client: ClientFacts): boolean;
  /** True for a client that looks for files among a tool's top-level arguments only: nested ones are lifted for it. */
  liftsArguments?(client: ClientFacts): boolean;
  /** Reads a value in a slot; undefined when it is not written in this dialect. */
  readArgument?(value: JsonValue, slot: FileSlot): ArgumentReading | undefined;
  /** The error with which a client that speaks this dialect wants a file refused; undefined: a tool error. */
  refuse?(refusal: FileRefusal, client: ClientFacts): { code: number; message: string; data: JsonObject } | undefined;
  /** What an upstream's own answer says of a file that it refused; undefined when it is no such answer. */
  readRefusal?(answer: { error: JsonObject } | { result: JsonObject }): FileRefusal | undefined;
  readonly methods?: Readonly<Record<string, DialectMethod>>;
  /** What a client is told besides of the server's capabilities, below them: in `initialize` and `server/discover`. */
  showServer?(capabilities: JsonObject, client: ClientFacts): readonly JsonPatch[];
  /**
   * A structuredContent for a tool's result with files that has none, of a tool that declares none; and what takes the
   * place of an object in one that names a single file.
   */
  structure?(files: readonly OutgoingFile[], client: ClientFacts): JsonObject | undefined;
  readonly transfer?: RemoteTransfer;

  // resources

  /** Members that an entry of a resource or template list gets for this client; undefined: lists pass as they came. */
  showResources?(client: ClientFacts): ((entry: JsonObject) => JsonObject) | undefined;
  readonly streaming?: ResourceStreaming;
}
