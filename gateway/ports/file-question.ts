import type { ClientFacts } from './client.js';
import type { TransferMode } from './file-slot.js';
import type { JsonObject, JsonValue } from './json.js';

/** A file that a user is asked for in the client's own window. */
export interface FileQuestion {
  /** What its field is called. */
  name: string;
  /** What the server says of this file, where it asks by itself. */
  title?: string;
  description?: string;
  /** Who asks, and for what. */
  message: string;
  accept?: readonly string[];
  /** Bytes. */
  maxSize: number;
  /** Most bytes of a file in the answer itself. */
  maxInline: number;
  /** How many files are wanted; absent: one. */
  several?: { least: number; most: number };
  /** Where its bytes may be uploaded, and what that upload is called. */
  upload: { url: string; id: string };
  /** A server asks for it by a question of its own. */
  isServers?: true;
  /** How it may come, where that server says so. */
  transferModes?: readonly TransferMode[];
}

/** Which files are taken. */
export type FileBounds = Pick<FileQuestion, 'maxSize' | 'accept'>;

/** What an answer holds. */
type FileAnswer =
  /** The files themselves, as `data:` URIs. */
  | { kind: 'inline'; uris: readonly string[] }
  /** What is said of the files that were uploaded before. */
  | { kind: 'uploaded'; files: readonly UploadedFile[] }
  | { kind: 'invalid' };

/** What an answer says of a file. */
export interface UploadedFile {
  name?: string;
  /** Bytes. */
  size?: number;
}

/** A file for which a server asks by itself. */
export interface ServerFile {
  /** What its field is called. */
  name: string;
  /** The server's own words about this file. */
  title?: string;
  description?: string;
  accept?: readonly string[];
  /** Bytes. */
  maxSize?: number;
  isRequired: boolean;
  /** The server expects a list, even of one file. */
  isList: boolean;
  /** Of a list: how many, where the server says so. */
  minItems?: number;
  maxItems?: number;
  /** The server reads the file's name in the answer itself. */
  takesName?: true;
  /** How the server takes it, where it says so: in the answer itself, or by the URI of an upload to the server. */
  transferModes?: readonly TransferMode[];
  /** Where the server wants the bytes, before the answer; undefined: in the answer itself. */
  endpoint?: { url: string; method: 'POST' | 'PUT'; id: string };
}

/** What a server asks its client's user for, by itself. */
export interface ServerQuestion {
  message: string;
  files: readonly ServerFile[];
  /** The other fields, and those of them that must be filled. */
  besides: OtherFields;
}

/** A server's question that cannot be answered. */
export interface BadQuestion {
  /** For the server's author. */
  problem: string;
}

/** Fields of a question that are not files. */
export interface OtherFields {
  properties: JsonObject;
  required: readonly string[];
}

/** A file that a server was given for its question. */
export interface GivenFile {
  name: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  /** For one that was uploaded to the server by the server's own protocol: its URI there. */
  uri?: string;
  /** For one that is in the answer itself: its base64. */
  base64?: string;
}

/** How clients of a dialect are asked for a file by `elicitation/create`. */
export interface FileAsking {
  /** Its name in the config's `elicitation.order`. */
  readonly means: 'binary' | 'form';
  /** The client uploads the file with the caller's credentials: the link is for no other. */
  readonly isCallersUpload: boolean;
  /** True for a client whose answer may name a file that it has uploaded to Wharf, which no server could read. */
  mayNameUploads?(client: ClientFacts): boolean;
  /** Of the files that are wanted, those that the client can give, where it says so. */
  narrow?(wanted: FileBounds, client: ClientFacts): FileBounds;
  /** The request's parameters; undefined for a client that does not speak the dialect, or would give no such file. */
  question(question: FileQuestion, client: ClientFacts): JsonObject | undefined;
  /** @param name of the field; `id` of the upload */
  answer(content: JsonValue | undefined, name: string, id: string): FileAnswer;
  /**
   * The modes of elicitation in which servers of the dialect ask for files.
   * @param declared the client's own; `maxSize` bytes that Wharf takes
   */
  declares?(declared: JsonObject, maxSize: number): JsonObject;
  /** Reads a server's own question in the dialect; undefined for any other. */
  fromServer(params: JsonObject): ServerQuestion | BadQuestion | undefined;
  /** What the answer to the server says of files: several only where it expects a list. */
  toServer(files: readonly GivenFile[], wanted: ServerFile): JsonValue;
}
