import { z } from 'zod';
import { ENCODINGS, type Encoding } from '../../encodings.js';
import { MOST_FILE } from '../../policy/limits.js';
import { argumentPath, companionName } from './argument-path.js';
import { size } from './fields.js';
import { toolName } from './peers.js';
import { templateProblem } from './template.js';
import { toolLimitsSchema } from './tool-limits.js';

const NAMES = Object.keys(ENCODINGS) as [Encoding, ...Encoding[]];

/** `type/subtype`, `type/*` or `.ext` (SEP-2356). Parameters are not compared, so they are not allowed here. */
const ACCEPT = /^(?:[A-Za-z0-9][\w!#$&^.+-]{0,126}\/(?:\*|[A-Za-z0-9][\w!#$&^.+-]{0,126})|\.[A-Za-z0-9][\w.+-]{0,62})$/;

/** Hosts cut descriptions at some thousand characters. */
const LONGEST_DESCRIPTION = 10_000;

/** Servers use many kinds of tool names. */
const TOOL_NAME = /^[\s\S]{1,256}$/;

/** `servers.X.tools.Y.files.<path>` */
export const fileArgumentSchema = z.strictObject({
  encoding: z
    .enum(NAMES)
    .describe(`What the server takes. ${NAMES.map((name) => `\`${name}\`: ${ENCODINGS[name].about}`).join('; ')}.`),
  template: z
    .unknown()
    .superRefine((value, context) => {
      const message = value === undefined ? undefined : templateProblem(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .describe(
      'Only with `encoding: object`: the value to send. `$base64`, `$base64url`, `$hex`, `$dataUri`, `$text`, ' +
        '`$bytes`, `$url` or `$handle` is replaced by the file, and `$mime`, `$name`, `$size` and `$sha256` by ' +
        'facts about it.',
    ),
  accept: z
    .array(
      z
        .string()
        .regex(ACCEPT, { error: 'must be a media type, such as image/png or image/*, or an ending such as .pdf' }),
    )
    .min(1, { error: 'must not be empty; left out, any file is accepted' })
    .max(100)
    .optional()
    .describe('Files that the tool accepts: `image/png`, `image/*`, `.pdf`. Default: every file.'),
  maxSize: size({ min: 1, max: MOST_FILE })
    .optional()
    .describe(
      'Largest file that the tool accepts. Default: what `limits.file` and `accepts` allow. Of `accepts`, 1 KiB ' +
        'is reserved for the rest of the message; base64 and data URIs may use three quarters of it, hex half, a ' +
        'list of bytes a quarter (up to four characters each), and text all of it, with its escapes counted when ' +
        'it is sent.',
    ),
  name: companionName()
    .optional()
    .describe("Sibling argument that Wharf fills with the file's name, unless the caller sets it."),
  mimeType: companionName()
    .optional()
    .describe("Sibling argument that Wharf fills with the file's media type, unless the caller sets it."),
  size: companionName()
    .optional()
    .describe("Sibling argument that Wharf fills with the file's size in bytes, unless the caller sets it."),
});

const results = z.strictObject({
  text: z
    .enum(['auto', 'json', 'off'])
    .default('auto')
    .describe(
      'Base64 over `limits.inlineOther` in a text block, or among the words of a string in `structuredContent`. `auto`: ' +
        'becomes a link where it is a `data:` URI, also among other words; among the words of a text that is ' +
        'not JSON, where it begins as a picture, PDF, archive or other known format; in one that is, where the JSON says that it is a file: the `data` of an object of type `image` or `audio`, the ' +
        '`blob` of a resource, or beside a media type (`{"mime": "image/png", "content": "…"}`); in one that is, where it ' +
        'begins as a known format beside the name of a file, a format or `"encoding": "base64"`; where it repeats a file ' +
        'of the same result, and where the host would cut the text off. `json`: in a text that is JSON, becomes a link ' +
        'wherever it is. `off`: stays.',
    ),
  files: z
    .array(argumentPath())
    .max(100)
    .default([])
    .describe('Paths of base64 files in structuredContent: `image.data`, `pages[].data`. Each file becomes a link.'),
});

/** `servers.X.tools` */
export function toolsSchema() {
  const tool = z.strictObject({
    name: toolName()
      .optional()
      .describe('The name under which clients see and call the tool. Its own name is then unknown to them.'),
    description: z
      .string()
      .max(LONGEST_DESCRIPTION)
      .optional()
      .describe('The description that clients see instead of its own.'),
    files: z
      .record(argumentPath(), fileArgumentSchema)
      .prefault({})
      .transform((files) => Object.entries(files).map(([path, file]) => ({ path, ...file })))
      .describe('File arguments, by path: `image`, `doc.data`, `pages[].data`.'),
    results: results.prefault({}).describe("Files in the tool's results that Wharf cannot find by itself."),
    limits: toolLimitsSchema()
      .optional()
      .describe(
        "Limits of this tool's calls and their results. The name of a tool that has nothing but limits may contain `*`, " +
          'which means any text. Of each limit the most specific setting counts: that of the own name, else of the first ' +
          'other entry that means the tool.',
      ),
  });
  return z
    .record(z.string().regex(TOOL_NAME, { error: 'must be the name of a tool, up to 256 characters' }), tool)
    .prefault({})
    .describe(
      "The server's tools, by their own names: how clients see them, files that they do not declare themselves, and limits.",
    );
}
