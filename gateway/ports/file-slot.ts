import type { Encoding } from '../encodings.js';
import type { ToolLimitSettings } from '../policy/tool-limits.js';
import type { JsonValue } from './json.js';

export type { Encoding } from '../encodings.js';

/** `servers.X.tools.Y.files.<path>`: a file argument as the operator configured it. */
export interface FileArgument {
  /** Path of the argument: `image`, `pages[].data`. Dots nest, `[]` is every item. */
  path: string;
  encoding: Encoding;
  /** For `object`: the JSON value, with `$base64`, `$mime`, `$name`, `$size` and so on in it. */
  template?: JsonValue;
  accept?: string[];
  /** Bytes. */
  maxSize?: number;
  /** Sibling arguments filled from the file, unless the caller gave them. */
  name?: string;
  mimeType?: string;
  size?: string;
}

/** `servers.X.tools.Y` */
export interface ToolSettings {
  /** The name under which clients know it, if that is not its own. */
  name?: string;
  /** The description that clients see instead of its own. */
  description?: string;
  files: FileArgument[];
  results: {
    /** Which base64 is cut out of a text block: what is marked as a file (default), in JSON any, or none. */
    text?: 'auto' | 'json' | 'off';
    /** Paths in structuredContent whose strings are files. */
    files: string[];
  };
  /** Limits of its calls; an entry with `*` in its name has nothing else. */
  limits?: ToolLimitSettings;
}

/** Names of the tools that Wharf adds for clients without a dialect, when the server's tools take files. */
export interface UploadTool {
  /** Asks for an upload. */
  request: string;
  /** Issues a fresh link for a handle. */
  link: string;
}

/** Whether a file of one server may be given to another. The first rule that matches decides; without one it may. */
export interface HandoffRule {
  /** Name of a server, or `*`. */
  from: string;
  to: string;
  allow: boolean;
}

/** How a client may hand over a file: inside the call, or by an upload before it. */
export type TransferMode = 'inline' | 'upload';

/** One way in which a server takes a file. */
export type Delivery =
  /** Written into the argument. A template may also ask for `$url` (a link of Wharf's) and `$handle`. */
  | { kind: 'encoded'; encoding: Encoding; template?: JsonValue }
  /** Uploaded to the server by its own protocol: `dialect` says how, and what the argument then contains. */
  | { kind: 'uploaded'; dialect: string; revision: string };

/** A place in a tool's arguments where a file may be, as every dialect sees it. */
export interface FileSlot {
  /** `['pages', '[]', 'data']`: `[]` is every item. */
  readonly path: readonly string[];
  /** Name of the dialect that declared it, or `config`. */
  readonly declaredBy: string;
  /** `image/png`, `image/*` or `.pdf`; absent: anything. */
  readonly accept?: readonly string[];
  /** Bytes of the file itself, whatever its encoding; absent: only the limits apply. */
  readonly maxSize?: number;
  /** Absent: all modes. */
  readonly transferModes?: readonly TransferMode[];
  /** Siblings of the slot that are filled from the file: the last segment of their path. */
  readonly companions: { readonly name?: string; readonly mimeType?: string; readonly size?: string };
  /** In order of preference: the first that fits is used. */
  readonly deliveries: readonly Delivery[];
  /** The rest of its declaration, shown to the client. */
  readonly purpose?: string;
}
