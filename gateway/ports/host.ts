/** A fact about a host, and where it is known from. */
export interface Known<Value> {
  readonly is: Value;
  readonly source: string;
}

/** What a host makes of the results of tools, as read in its source or reported by its users. */
export interface HostBehaviour {
  /**
   * What reaches the model of a result that also has structuredContent. `both`; `content`: only the content;
   * `without-text`: the JSON, and the content's images; `without-content`: the JSON alone.
   */
  readonly structured: Known<'both' | 'content' | 'without-text' | 'without-content'>;
  readonly images: Known<HostImages>;
  /**
   * `text`: the address as text; `json`: the whole block as JSON; `whole`: one makes JSON of the whole result, with its images as
   * base64; `read`: the host asks the server for it, and adds what it gets to the context, images as images and anything else as
   * text; `fetched`: the service of its model is to fetch the address, and the whole request fails where it cannot, as with one
   * of this machine, or the host itself refuses to send it; `refused`: the host takes no result that has one, or
   * says in its place that it cannot; `dropped`; `unknown`.
   */
  readonly links: Known<'text' | 'json' | 'whole' | 'read' | 'fetched' | 'refused' | 'dropped' | 'unknown'>;
  /**
   * An embedded resource with a text. `dropped`; `whole`: one makes JSON of the whole result, with its images as base64;
   * `pages`: its text reaches the model, and its user is shown those that are pages (MCP-UI), as text or as bytes.
   * Absent: its text reaches the model.
   */
  readonly embeddedTexts?: Known<'dropped' | 'whole' | 'pages'>;
  /**
   * An embedded resource with bytes. `shown`: the model gets the bytes as a file; `unchecked`: so it does, but its service
   * refuses the whole request for a type that it does not know; `saved`: the host writes a file and names it; `json`:
   * base64 as text; `decoded`: its bytes as if they were text; `named`: its name or type only; `dropped`; `unknown`.
   */
  readonly blobs: Known<'shown' | 'unchecked' | 'saved' | 'json' | 'decoded' | 'named' | 'dropped' | 'unknown'>;
  /**
   * A result with `isError`. `content`: like other results; `text`: only its text blocks; `string`: all blocks as one text,
   * base64 too; `unknown`.
   */
  readonly errors: Known<'content' | 'text' | 'string' | 'unknown'>;
  /** It puts nothing between two texts of a result, at least on one of the ways to its model. */
  readonly joined?: Known<true>;
  /** Longest text that the model gets whole. */
  readonly text?: Known<HostTextLimit>;
  /** Longest text that the model gets whole of a result with `isError`, where that differs. */
  readonly errorText?: Known<HostTextLimit>;
  /**
   * Where `_meta` of a result reaches the model as part of the whole result: `results`: always; `errors`: of a result with
   * `isError`. Absent: nowhere.
   */
  readonly meta?: Known<'results' | 'errors'>;
  /**
   * `refused`: it hands the schemas of tools on as they are, and a service of its models refuses every request with a keyword
   * that it does not know. Absent: such keywords do no harm.
   */
  readonly keywords?: Known<'refused'>;
  /** What its user sees of a result without asking for more: every block, the text, or only the model's answer. */
  readonly user: Known<'blocks' | 'text' | 'answer'>;
  /**
   * It declares wrongly whether it opens a page that it is asked to (URL mode elicitation): what it really does, of those
   * that declare elicitation at all.
   */
  readonly opensPages?: Known<boolean>;
  /** Its model can run commands on its user's machine. */
  readonly terminal?: Known<true>;
}

interface HostImages {
  /** Where image blocks go. `json`: to the model, as base64 text. */
  readonly reach: 'model' | 'json' | 'nothing';
  /** On one of the ways to its model they are left out. */
  readonly notAlways?: true;
  /** Media types that do; absent: all. */
  readonly types?: readonly string[];
  /** Longest edge in pixels; the host scales larger ones down. */
  readonly edge?: number;
  /** Longest edge in pixels that its model's service takes; for a longer one it refuses the whole request. */
  readonly mostEdge?: number;
  /** Most of them that fit into one result. */
  readonly perResult?: number;
  /** Most bytes of all of them in one result. */
  readonly bytesPerResult?: number;
}

/** How much text a host shows its model. */
export interface HostTextLimit {
  readonly most: number;
  readonly unit: 'characters' | 'bytes';
  /** What is measured: each block of text, or all of a result together. */
  readonly per: 'block' | 'result';
  /** Most lines, where the host counts them too. */
  readonly lines?: number;
  /** Where images share one limit with text: how much text that is, and how much of it each image takes at most. */
  readonly withImages?: { readonly most: number; readonly each: number };
  /** A tool may say that its text is longer, up to this (`_meta["anthropic/maxResultSizeChars"]`). */
  readonly atMost?: number;
  /** What the host does with longer text. */
  readonly over: 'saved' | 'cut';
}

/** How much text a host is given. */
export type ShownText = Omit<HostTextLimit, 'over'>;

/** A host, or one generation of it. */
export interface HostProfile {
  /** Its name in `clients:` and `wharf explain`. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  readonly match: HostMatch;
  readonly behaviour: HostBehaviour;
}

interface HostMatch {
  /** Values of `clientInfo.name`; `*` matches any text. Empty where others send the same name. */
  readonly names: readonly string[];
  /** Versions, such as `>=1.2 <2`; absent: all. */
  readonly versions?: string;
}

/**
 * How results are written for one host. An absent member is what a host gets that is not known: everything that MCP has,
 * except images in errors.
 */
export interface Host {
  /**
   * `drop`: tools are listed without their outputSchema, and results with files have no structuredContent, so that the
   * content counts; `with-blocks`: a file that only structuredContent has gets blocks in the content too.
   */
  readonly structured?: 'keep' | 'drop' | 'with-blocks';
  /**
   * `drop`: no image blocks, because none reaches the model; `with-text`: before each, small ones too, there is a text with its
   * link, because it may not reach the model.
   */
  readonly images?: 'keep' | 'drop' | 'with-text';
  /** Media types of images that the model can be shown; any other is replaced like a large one. */
  readonly imageTypes?: readonly string[];
  /** Longest edge in pixels of images that the model can be shown; a larger image is replaced like a large one. */
  readonly imageEdge?: number;
  /** Most images in one result, previews among them. */
  readonly imagesPerResult?: number;
  /** Most bytes of all images in one result. */
  readonly imageBytesPerResult?: number;
  /**
   * Whether a result with `isError` may have images. Without `keep` it has none; with `drop`, of a host that is known to keep
   * only the texts of an error, texts also say what the server's links and embedded texts do.
   */
  readonly errorImages?: 'keep' | 'drop';
  /**
   * `no-images`: no `resource_link` of Wharf's to an image; `drop`: none of Wharf's at all, because the text says it;
   * `with-text`: before each of the server's own there is a text that says it, unless another one does already; `as-text`: none
   * at all, and a text in the place of each of the server's own.
   */
  readonly resourceLinks?: 'keep' | 'no-images' | 'drop' | 'with-text' | 'as-text';
  /** `as-text`: an embedded text becomes a text block; `keep-pages`: an embedded page stays as it came, however long. */
  readonly embeddedTexts?: 'keep' | 'keep-pages' | 'as-text';
  /** `drop`: embedded bytes of any size become text or a link. */
  readonly blobs?: 'keep' | 'drop';
  /**
   * What Wharf adds to `_meta` for programs. `no-errors`: nothing in a result with `isError`; `drop`: nothing, because the
   * text says it.
   */
  readonly meta?: 'keep' | 'no-errors' | 'drop';
  /** `plain`: the schema of a file argument has neither `format: uri` nor `x-mcp-file`; its description says what to pass. */
  readonly fileArguments?: 'keep' | 'plain';
  /** Longest text; longer text is stored, and shown by a link, its beginning and its end. */
  readonly text?: ShownText | 'keep';
  /** Longest text of a result with `isError`, where that differs. */
  readonly errorText?: ShownText | 'keep';
  /** Whether it is asked to open pages, whatever mode of elicitation it declares. */
  readonly opensPages?: boolean;
  /** Wharf's texts begin and end with a line break. */
  readonly textsApart?: boolean;
  /** Texts also hold a command that downloads the file. */
  readonly curl?: boolean;
}
