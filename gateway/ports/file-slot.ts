import type { JsonValue } from './json.js';

/** How a file is spelled in an argument. */
export type Encoding =
  | 'base64'
  | 'base64url'
  | 'hex'
  | 'dataUri'
  | 'dataUriNamed'
  | 'text'
  | 'object'
  | 'bytes'
  | 'httpsUrl'
  | 'localPath'
  | 'fileUri';

/** `servers.X.tools.Y.files.<path>`: a file argument as the operator configured it. */
export interface FileArgument {
  /** Where the argument stands: `image`, `pages[].data`. Dots nest, `[]` is every item. */
  path: string;
  encoding: Encoding;
  /** Of `object`: the JSON value, with `$base64`, `$mime`, `$name`, `$size` and so on in it. */
  template?: JsonValue;
  accept?: string[];
  /** Bytes. */
  maxSize?: number;
  /** Sibling arguments that are filled from the file, unless the caller gave them. */
  name?: string;
  mimeType?: string;
  size?: string;
}

/** `servers.X.tools.Y` */
export interface ToolSettings {
  files: FileArgument[];
  results: {
    /** Base64 inside a text block that is itself JSON is cut as well. */
    text?: 'json';
    /** Paths in structuredContent whose strings are files. */
    files: string[];
  };
}

/** Names of the tools that Wharf adds to a server whose tools take files, for clients that know no dialect. */
export interface UploadTool {
  /** Asks for an upload. */
  request: string;
  /** Gives a fresh link to a handle. */
  link: string;
}

/** Whether a file that one server gave may be given to another. The first rule that matches decides; none: it may. */
export interface HandoffRule {
  /** Name of a server, or `*`. */
  from: string;
  to: string;
  allow: boolean;
}

/** `clients`: dialects that a client speaks although it cannot declare them. The first profile that matches counts. */
export interface ClientProfile {
  /** All that is given must match, and at least one is given. */
  match: {
    /** `clientInfo.name`; `*` stands for anything. */
    name?: string;
    principal?: string;
  };
  dialects: string[];
}

/** How a client may hand over a file: inside the call, or uploaded before it. */
export type TransferMode = 'inline' | 'upload';

/** One way in which a server takes a file. */
export type Delivery =
  /** Spelled out in the argument. A template may also ask for `$url` (a link of Wharf's) and `$handle`. */
  | { kind: 'encoded'; encoding: Encoding; template?: JsonValue }
  /** Uploaded to the server by its own protocol: `dialect` says how, and what then stands in the argument. */
  | { kind: 'uploaded'; dialect: string; revision: string };

/** A place in a tool's arguments where a file may stand, as every dialect sees it. */
export interface FileSlot {
  /** `['pages', '[]', 'data']`: `[]` is every item. */
  readonly path: readonly string[];
  /** Of a nested one: its name for clients that look at a tool's top-level arguments only. */
  readonly lifted?: string;
  /** Name of the dialect it was declared in, or `config`. */
  readonly declaredBy: string;
  /** `image/png`, `image/*` or `.pdf`; absent: anything. */
  readonly accept?: readonly string[];
  /** Bytes of the file itself, whatever its encoding; absent: whatever the limits allow. */
  readonly maxSize?: number;
  /** Of an array: the least and the most items, as the tool itself says. */
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The JSON types that the tool itself says may stand there; absent: whatever. */
  readonly types?: ReadonlySet<string>;
  /** Absent: every one. */
  readonly transferModes?: readonly TransferMode[];
  /** Siblings of the slot that are filled from the file: the last segment of their path. */
  readonly companions: { readonly name?: string; readonly mimeType?: string; readonly size?: string };
  /** The tool takes the size as text. */
  readonly sizeIsText?: boolean;
  /** In order of preference: the first that fits is used. */
  readonly deliveries: readonly Delivery[];
  /** What its declaration says besides, to be told to the client. */
  readonly purpose?: string;
}
