import { z } from 'zod';
import type { Encoding } from '../../ports/file-slot.js';
import { argumentPath, companionName } from './argument-path.js';
import { size } from './fields.js';
import { MOST_FILE } from './limits.js';
import { templateProblem } from './template.js';

const ENCODINGS = [
  'base64',
  'base64url',
  'hex',
  'dataUri',
  'dataUriNamed',
  'text',
  'object',
  'bytes',
  'httpsUrl',
  'localPath',
  'fileUri',
] as const satisfies readonly Encoding[];

/** `type/subtype`, `type/*` or `.ext` (SEP-2356). Parameters are not compared, so they may not stand here. */
const ACCEPT = /^(?:[A-Za-z0-9][\w!#$&^.+-]{0,126}\/(?:\*|[A-Za-z0-9][\w!#$&^.+-]{0,126})|\.[A-Za-z0-9][\w.+-]{0,62})$/;

/** Servers call their tools all sorts of things. */
const TOOL_NAME = /^[\s\S]{1,256}$/;

/** `servers.X.tools.Y.files.<path>` */
export const fileArgumentSchema = z.strictObject({
  encoding: z
    .enum(ENCODINGS)
    .describe(
      'What the server takes: base64, base64url or hex text, a data URI (`dataUriNamed`: with `name=` in it), the text ' +
        'itself, an object made from `template`, a list of bytes, a link of Wharf’s (`httpsUrl`), or for stdio servers a ' +
        'temporary file (`localPath`, `fileUri`).',
    ),
  template: z
    .unknown()
    .superRefine((value, context) => {
      const message = value === undefined ? undefined : templateProblem(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .describe(
      'With `encoding: object`, and only there: the value, in which `$base64`, `$base64url`, `$hex`, `$dataUri`, `$text`, ' +
        '`$url` or `$handle` stand for the file and `$mime`, `$name`, `$size` and `$sha256` for what is known of it.',
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
    .describe('Files that the tool takes: `image/png`, `image/*`, `.pdf`. Default: every file.'),
  maxSize: size({ min: 1, max: MOST_FILE })
    .optional()
    .describe(
      'Largest file that the tool takes. Default: what `limits.file` and `accepts` allow, which is three quarters of ' +
        '`accepts` for base64 and data URIs, half of it for hex, a quarter for a list of bytes (up to four characters ' +
        'each), all of it for text, whose escapes count when it is sent; 1 KiB of it is for the rest of the message.',
    ),
  name: companionName()
    .optional()
    .describe("Argument beside this one that is given the file's name, unless the caller gives it."),
  mimeType: companionName().optional().describe("The same for the file's media type."),
  size: companionName().optional().describe("The same for the file's size in bytes."),
});

const results = z.strictObject({
  text: z
    .literal('json')
    .optional()
    .describe(
      '`json`: base64 inside a text block that is itself JSON becomes a link as well. Left out, such a block is text.',
    ),
  files: z
    .array(argumentPath())
    .max(100)
    .default([])
    .describe(
      'Paths in structuredContent whose strings are files in base64: `image.data`, `pages[].data`. Each becomes a link.',
    ),
});

/** `servers.X.tools` */
export function toolsSchema() {
  const tool = z.strictObject({
    files: z
      .record(argumentPath(), fileArgumentSchema)
      .prefault({})
      .transform((files) => Object.entries(files).map(([path, file]) => ({ path, ...file })))
      .describe('Arguments that hold a file, by their path: `image`, `doc.data`, `pages[].data`.'),
    results: results.prefault({}).describe("Files in the tool's results that Wharf does not find by itself."),
  });
  return z
    .record(z.string().regex(TOOL_NAME, { error: 'must be the name of a tool, up to 256 characters' }), tool)
    .prefault({})
    .describe('What the tools of this server do not say themselves of the files they take and give.');
}
