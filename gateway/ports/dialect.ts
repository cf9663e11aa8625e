import type { Limits } from '../policy/limits.js';
import type { ClientFacts } from './client.js';
import type { FileClaims, FileRef } from './file.js';
import type { FileAsking } from './file-question.js';
import type { FileSlot } from './file-slot.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from './json.js';
import type { ContentFacts, PreviewText, Size } from './previewer.js';
import type { ResourceStreaming } from './resource-streaming.js';

export type { JsonObject, JsonPatch, JsonPath, JsonValue } from './json.js';

/**
 * The kind of object that holds a file. It decides the file's limits and what may replace the object:
 * - `content`: one block of a tool result's `content[]`; any number of blocks may replace it;
 * - `prompt`: the one content block of a prompt message; exactly one block replaces it;
 * - `resource`: one item of `resources/read`'s `contents[]`; exactly one item replaces it.
 */
export type HolderKind = 'content' | 'prompt' | 'resource';

/** A place in an upstream's message where a file may be. */
export interface SlotPlace {
  /** Name of the place, unique among all dialects: `<dialect>/<place>`. */
  readonly name: string;
  /** Path of the string below the `result` of an answer: `content[].data`. Dots nest, `[]` is every item. */
  readonly path: string;
  /** Path of the object that is replaced, a prefix of `path`: `content[]`. */
  readonly holder: string;
  readonly kind: HolderKind;
  /** `base64`: the whole string. `dataUri`: the string is a file only if all of it is a base64 `data:` URI. */
  readonly encoding: 'base64' | 'dataUri';
  /** It is a text, in which there may be files beside other words. */
  readonly isProse?: true;
}

/** What is known of a file's content, and at most one thing to show in its place: an image or a text. */
export interface Preview {
  facts: ContentFacts;
  image?: Size & { mimeType: string; base64: string };
  text?: PreviewText;
  /** Of an image that has more pixels than a preview is made of: how many it may have. */
  mostPixels?: number;
}

/** A stored file that is about to be written into a message. */
export interface OutgoingFile {
  ref: FileRef;
  preview?: Preview;
  /** What a model can do with the file's handle; absent when it has been shown no tool for it. */
  uses?: HandleUses;
}

/** The tools that take a handle. */
export interface HandleUses {
  /** True when some tool takes files. */
  isTaken: boolean;
  /** Name of the tool that issues new links. */
  linkTool?: string;
}

/** What the object around a file says about it. */
export interface SlotReading {
  claims: FileClaims;
  inlineLimit: 'image' | 'other';
}

/** How servers of a dialect put files into messages. */
export interface FilesFromServers {
  readonly places: readonly SlotPlace[];
  /**
   * Reads the holder of a file, in which the file's own string is empty. `mimeType` is that of a data URI, if it was
   * one.
   * @returns undefined when the string in this place is not a file
   */
  read(place: SlotPlace, holder: JsonObject): SlotReading | undefined;
}

/** What clients of a dialect get in the place of a file. */
export interface FilesForClients {
  /** True for a client that understands what `write` makes. */
  spokenBy(client: ClientFacts): boolean;
  /** What replaces the holder in a message to this client. */
  write(place: SlotPlace, file: OutgoingFile, holder: JsonObject, client: ClientFacts): JsonObject[];
}

/** A value that a client put into a file slot. */
export type ArgumentReading =
  /** A handle of Wharf's, not yet checked. */
  | { kind: 'handle'; uri: string }
  /** An address: a download link of Wharf's. Any other address is not followed. */
  | { kind: 'link'; url: string }
  /** A foreign address that the client's host vouches for, fetched under the rules for that. */
  | { kind: 'remote'; url: string; claims: FileClaims }
  | { kind: 'dataUri'; text: string; claims: FileClaims }
  | { kind: 'base64'; text: string; claims: FileClaims }
  | { kind: 'text'; text: string; claims: FileClaims }
  | { kind: 'invalid'; reason: FileReason; text: string };

/** Why a file is refused: SEP-2631's words, and further ones in their style. */
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

/** An argument that a tool declares as a file. */
export interface DeclaredFile {
  path: readonly string[];
  /** The word that does. */
  by: string;
}

/** A slot in a tool that is shown to a client. */
export interface ShownSlot {
  slot: FileSlot;
  /** Name of the argument, if it is a top-level argument of the tool, by nature or because it was lifted there. */
  name?: string;
  /** Path of its schema below the tool, with local references resolved. */
  at: JsonPath;
  schema: JsonObject;
  /** The slot's schema as the server declared it, before any dialect changed it. */
  declared: JsonObject;
  /** Bytes: largest file that can really be handed over, all limits considered. */
  maxSize: number;
  /** Bytes: largest file that can be sent inside a call. */
  maxInline: number;
  /** For an array: the most files it takes. */
  maxItems?: number;
  /** The tool's own schema does not say so. */
  lacksMaxItems?: true;
  /** Name of the tool that issues upload links, if there is one. */
  uploadTool?: string;
}

/** A file argument that cannot be used, refused before the server is asked. */
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

/** Bytes to move between Wharf and an address that an upstream named. */
export interface TransferDescriptor {
  method: 'GET' | 'PUT' | 'POST';
  url: string;
  headers: Record<string, string>;
  multipart?: { fileField: string; fields: Record<string, string> };
  /** When it expires, milliseconds since the Unix epoch by the upstream's clock; absent if unknown. */
  expiresAt?: number;
}

/** Facts about a file that an upstream gets before the upload. */
export interface FileFacts {
  name: string;
  mimeType: string;
  size: number;
  /** SHA-256, base64url without padding. */
  digest: string;
}

/** A request that Wharf itself sends to a peer. */
export interface OwnRequest {
  method: string;
  params: JsonObject;
}

/** A file that an upstream keeps and only names in a result. */
export interface RemoteFile {
  /** Path of the object that names it, below the result. */
  path: JsonPath;
  /** `value`: the object is in structuredContent and keeps its shape. */
  kind: HolderKind | 'value';
  /** The upstream's own URI. */
  uri: string;
  claims: FileClaims;
  size?: number;
  /** SHA-256, base64url without padding. */
  digest?: string;
  /**
   * The object in structuredContent may be something else. If the server does not give out a file for it, it stays
   * unchanged.
   */
  isGuess?: boolean;
  /** The URI is an address that a client can use by itself: nothing is fetched, but not every client knows the object. */
  isAddress?: boolean;
}

/** Why a peer refused a file. */
export interface TransferRefusal {
  reason: FileReason;
  maxSize?: number;
  actualSize?: number;
}

/** Moves files to and from an upstream that has a protocol of its own for it. */
export interface RemoteTransfer {
  /** The revision in which the fields of forms take files. */
  readonly ofForms: string;
  /** Tried in turn until the upstream knows the method. */
  uploadRequests(file: FileFacts, revision: string): readonly OwnRequest[];
  /** Where the bytes go, the argument's value afterwards, and requests to make in between. */
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
  ): { descriptor: TransferDescriptor; claims?: FileClaims; size?: number; digest?: string } | undefined;
  /** Reads a refused file from the `data` of an error, or from the body of an upload's answer. */
  readRefusal(data: JsonValue | undefined): TransferRefusal | undefined;
  /**
   * Texts of which every answer to this method that names a file contains at least one: a cheap test before parsing.
   */
  marks(method: string): readonly string[];
  /** Files named in a result of the upstream. */
  remoteFiles(result: JsonObject): readonly RemoteFile[];
  /**
   * Makes an object of structuredContent name Wharf's file instead. Paths are below the object; an empty path replaces
   * it.
   * @param isFixed the object must keep its members, because its schema is declared
   */
  rename(value: JsonObject, file: OutgoingFile, client: ClientFacts, isFixed: boolean): readonly JsonPatch[];
}

/** What a dialect's JSON-RPC method asks of Wharf. */
export type FileOperation =
  | { kind: 'authorizeUpload'; name?: string; mimeType?: string; size?: number; digest?: string }
  | { kind: 'authorizeDownload'; uri: string }
  | { kind: 'stat'; uri: string };

/** The result of a file operation. */
export type FileOutcome =
  | {
      kind: 'upload';
      file: Partial<FileFacts> & { uri: string };
      upload: { url: string; expiresAt: string };
    }
  | { kind: 'download'; uri: string; ref: FileRef }
  | { kind: 'stat'; uri: string; ref: FileRef };

/** A JSON-RPC method of a dialect, which Wharf itself answers. */
export interface DialectMethod {
  /** @throws GatewayError `params_invalid` */
  read(params: JsonObject): FileOperation;
  write(outcome: FileOutcome, client: ClientFacts): JsonObject;
  /** The `data` of the error that refuses a file; undefined: Wharf's own. */
  refuse?(refusal: MethodRefusal): JsonObject | undefined;
}

/** Why a method of a dialect was refused. */
export interface MethodRefusal {
  reason: string;
  maxSize?: number;
  actualSize?: number;
}

/** Pages of a server that a client's host shows. They are code, which wants a file's bytes where the server put them. */
interface ServerPages {
  /** True for a client whose host shows them. */
  shownBy(client: ClientFacts): boolean;
  /** True for a tool that only they call: no model gets its results. */
  calls(tool: JsonObject): boolean;
  /** True for the URI of a page itself. */
  isPage(uri: string): boolean;
}

/** One way in which peers write files on the wire: pure functions around one neutral file model. No I/O, no clock. */
export interface Dialect {
  readonly name: string;
  /** What a client that speaks it gets, in one sentence that follows the name, for the config reference. */
  readonly about: string;
  /** The `clientInfo.name`, in the syntax of `clients:`, of a client that speaks it but cannot declare it. */
  readonly undeclaredBy?: string;
  /** The revision of the specification that it follows. */
  readonly revision: string;

  // a dialect omits the members that it does not need: what it lacks, the dialects behind it in the list do

  // upstream → client

  readonly fromServers?: FilesFromServers;
  readonly forClients?: FilesForClients;

  // client → upstream

  /**
   * Names of the client capabilities that it reads, as in `ClientFacts`. A session keeps only these of the client's
   * declared capabilities.
   */
  readonly reads?: readonly string[];
  /** Capabilities that Wharf declares to every upstream, because it has them whatever the client has. */
  readonly declares?: JsonObject | ((limits: Limits) => JsonObject);
  /** File slots that a tool's own declaration names. */
  slotsOf?(tool: JsonObject): readonly FileSlot[];
  /**
   * Edits a tool with these slots for a client. Dialects run in reverse order of the list, and each sees the tool as
   * the one before left it. Paths are below the tool. Also called for tools without slots.
   */
  showTool?(tool: JsonObject, slots: readonly ShownSlot[], client: ClientFacts): readonly JsonPatch[];
  /**
   * True for a client that spells files as a server of this dialect takes them: then neither the declared slots nor the
   * addresses in them are changed.
   */
  passes?(client: ClientFacts): boolean;
  /** True for a client that looks for files only among a tool's top-level arguments: nested ones are lifted for it. */
  liftsArguments?(client: ClientFacts): boolean;
  /**
   * The arguments that a tool's own words make files in this dialect, also where those are words that Wharf makes no slot
   * of: for `wharf inspect`, which proposes no setting for them.
   */
  declaredFiles?(tool: JsonObject): readonly DeclaredFile[];
  /**
   * A cheap look at a value anywhere in a call: whether it may be a file as this dialect spells one. Where no
   * dialect says so of any, a tool that has not been seen yet is not asked for.
   */
  mayHoldFile?(value: JsonValue): boolean;
  /** Reads a value in a slot; undefined when it is not written in this dialect. */
  readArgument?(value: JsonValue, slot: FileSlot): ArgumentReading | undefined;
  /** The error that refuses a file to a client that speaks this dialect; undefined: a tool error. */
  refuse?(refusal: FileRefusal, client: ClientFacts): { code: number; message: string; data: JsonObject } | undefined;
  /** Reads a refused file from an upstream's own answer; undefined for any other answer. */
  readRefusal?(answer: { error: JsonObject } | { result: JsonObject }): FileRefusal | undefined;
  readonly methods?: Readonly<Record<string, DialectMethod>>;
  /**
   * Edits the server's capabilities for a client, in `initialize` and `server/discover`. Paths are below the
   * capabilities.
   */
  showServer?(capabilities: JsonObject, client: ClientFacts): readonly JsonPatch[];
  /**
   * A structuredContent for a result with files, if it has none and the tool declares none; and the replacement for an
   * object in structuredContent that names a single file.
   */
  structure?(files: readonly OutgoingFile[], client: ClientFacts): JsonObject | undefined;
  readonly transfer?: RemoteTransfer;
  readonly pages?: ServerPages;

  /** How a client that speaks it is asked for a file that a call lacks. */
  readonly asks?: FileAsking;

  // resources

  /** Changes an entry of a resource or template list for this client; undefined when lists pass unchanged. */
  showResources?(client: ClientFacts): ((entry: JsonObject) => JsonObject) | undefined;
  readonly streaming?: ResourceStreaming;
}
