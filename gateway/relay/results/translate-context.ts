import type { Edits } from '../../json/edit.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FilesForClients, HandleUses } from '../../ports/dialect.js';
import type { ToolSettings } from '../../ports/file-slot.js';
import type { JsonPath } from '../../ports/json.js';
import type { Room } from '../client/room.js';
import type { Cut } from '../cut/cut.js';
import type { ShownFiles } from './host/shown-file.js';
import type { AnnouncedLink } from './lazy-links.js';
import type { RemoteEdits, Replacement } from './remote-edits.js';
import type { StructuredResults } from './structured-results.js';
import type { ToldNames } from './told-names.js';
import type { RefusedFiles } from './types/refused-files.js';

/** How files without a name of their own get one. */
export interface NamingContext {
  /** The base of the names of nameless files at this path. */
  subject: (path: JsonPath) => string;
  /** Names that calls and texts give to files without names of their own. */
  names: ToldNames;
}

/** How files are written for their client. */
export interface WritingContext {
  client: ClientFacts;
  /** Files as the client's host shows them. */
  shown: ShownFiles;
  /** Writes a file in the client's dialect. */
  write: FilesForClients['write'];
}

/** Which strings of structuredContent are files, and what may stand in their places. */
export interface StructureContext {
  client: ClientFacts;
  /** What tools declare about their results, and which changes are allowed in those. */
  structured: StructuredResults;
  /** The operator's settings for that tool. */
  settings: (path: JsonPath) => ToolSettings | undefined;
  /** Sample links, to test whether a link would fit before the file exists. */
  sampleLinks: () => Promise<readonly string[]>;
}

/** What is said in words of links that the client's host does not show. */
export interface LinkContext {
  limits: Limits;
  /** Resources that the server only named; Wharf reads them on first use. */
  links: readonly AnnouncedLink[];
  /** What a model can do with the handle of such a resource, where that is said in words. */
  uses: HandleUses | undefined;
  /** How much longer the message may become. */
  room: Room;
}

/** What the files of one message are turned into links with. A step that needs little of it says which part. */
export interface TranslateContext extends NamingContext, WritingContext, StructureContext, LinkContext {
  /** In order of preference; every client speaks the last one. */
  dialects: readonly Dialect[];
  /** True when the value at this path is part of a result that can contain files. */
  mayHoldFiles: (path: JsonPath) => boolean;
  /** True for a string that stays as the server wrote it, although it is a file. */
  stays: (cut: Cut) => boolean;
  /** Files that are left out; absent: none is. */
  refused: RefusedFiles | undefined;
  /** Characters of text that the results of that tool may have, if it says so. */
  longestText: (path: JsonPath) => number | undefined;
  /** Files that the server only named, and Wharf has fetched. */
  remote: RemoteEdits | undefined;
  /** What small blocks become whose bytes the host would not show, and long texts. */
  unshown: () => Promise<Replacement[]>;
  /** Results that lose their structuredContent if nothing of it is lost, because their host would show it alone. */
  dropped: readonly JsonPath[];
  edits: Edits;
}
