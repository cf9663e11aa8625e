import { z } from 'zod';
import { isVersionRange } from '../../hosts/version-range.js';
import { MEANS } from '../../policy/means.js';
import { type LimitsOfSide, TYPE_LIMITS } from '../../policy/message-limits.js';
import type { AdapterList } from '../adapter-list.js';
import { size } from './fields.js';
import { acceptFields, messageLimitFields } from './limits.js';

const keepOrDrop = () => z.enum(['keep', 'drop']).optional();

function shownText() {
  return z
    .union(
      [
        z.literal('keep'),
        z.strictObject({
          most: z.int().min(1000).max(10_000_000).describe('Longest text that passes whole.'),
          unit: z.enum(['characters', 'bytes']).default('characters').describe('What `most` counts.'),
          per: z.enum(['block', 'result']).default('block').describe('What is measured: each block, or all together.'),
          lines: z.int().min(100).max(1_000_000).optional().describe('Most lines, for hosts that count them too.'),
        }),
      ],
      { error: 'must be keep, or a map with "most"' },
    )
    .optional();
}

/** `clients[].host`: how results are written, where that differs from the host's profile. */
function hostSchema() {
  return z.strictObject({
    structured: z
      .enum(['keep', 'drop', 'with-blocks'])
      .optional()
      .describe(
        '`drop`: tools are listed without their `outputSchema`, and results with files come without ' +
          '`structuredContent`: for hosts that hide the other content of a result that has it. `with-blocks`: a file ' +
          'that only `structuredContent` has gets a text with its link, and a preview, in the content too: for hosts that ' +
          'hide `structuredContent`.',
      ),
    images: z
      .enum(['keep', 'drop', 'with-text'])
      .optional()
      .describe(
        '`drop`: no image blocks, for hosts whose model is not shown them. `with-text`: before each image, small ones too, ' +
          'there is a text with its link, for hosts whose model may not be shown it.',
      ),
    imageTypes: z
      .array(z.string().regex(/^image\/[\w.+-]{1,100}$/, { error: 'must be the media type of an image: image/png' }))
      .min(1)
      .max(100)
      .optional()
      .describe('Media types of images that the model is shown. Other images are replaced like large ones.'),
    imageEdge: z
      .int()
      .min(100)
      .max(100_000)
      .optional()
      .describe(
        'Longest edge in pixels of images that the model is shown. Larger images are replaced like large ones.',
      ),
    imagesPerResult: z.int().min(0).max(100).optional().describe('Most images in one result, previews among them.'),
    imageBytesPerResult: size({ min: 1, max: 100 * 1024 * 1024 })
      .optional()
      .describe('Most bytes of all images in one result.'),
    errorImages: keepOrDrop().describe(
      'Images in results with `isError`. `drop`, the default: they become text with a link. Written here, it also has ' +
        'texts say what links and embedded texts of the server do in such a result.',
    ),
    resourceLinks: z
      .enum(['keep', 'no-images', 'drop', 'with-text', 'as-text'])
      .optional()
      .describe(
        '`no-images`: no `resource_link` to an image, for hosts that read links at once. `drop`: no `resource_link`, ' +
          'because the text has the link already. `with-text`: before each `resource_link` of the server there is a ' +
          'text that says it, for hosts whose model is not shown links. `as-text`: no `resource_link`, and a text in the ' +
          'place of each one of the server, for hosts that fail because of one.',
      ),
    embeddedTexts: z
      .enum(['keep', 'keep-pages', 'as-text'])
      .optional()
      .describe(
        '`as-text`: an embedded text becomes a text block, for hosts whose model is not shown embedded texts. ' +
          '`keep-pages`: an embedded page (MCP-UI) stays as it came, as text or as bytes, for hosts that show ' +
          'their users such pages.',
      ),
    blobs: keepOrDrop().describe('`drop`: embedded bytes of any size become text or a link.'),
    meta: z
      .enum(['keep', 'no-errors', 'drop'])
      .optional()
      .describe(
        'What Wharf adds to `_meta` for programs. `no-errors`: nothing in results with `isError`, for hosts that show ' +
          'their model the whole of these. `drop`: nothing, for hosts that show it the whole of every result.',
      ),
    fileArguments: z
      .enum(['keep', 'plain'])
      .optional()
      .describe(
        '`plain`: file arguments are shown as strings without `format` and the keywords that mark files, for hosts whose ' +
          'models’ service refuses such in the schemas of tools, as Gemini’s does. What to pass is in the description.',
      ),
    text: shownText().describe('Longer text is stored, and shown by a link, its beginning and its end. `keep`: never.'),
    errorText: shownText().describe('The same for results with `isError`; as `text` by default.'),
    opensPages: z
      .boolean()
      .optional()
      .describe('Whether a client that declares elicitation is asked to open pages, whatever modes it declares.'),
    textsApart: z
      .boolean()
      .optional()
      .describe('Texts about files begin and end with a line break, for hosts that put nothing between two texts.'),
    curl: z.boolean().optional().describe('Texts about files also hold a `curl` command that downloads the file.'),
  });
}

/** `clients[].limits`. The length of a message is judged before its client is known. */
function hostLimitsSchema() {
  const { message: _, ...fields } = messageLimitFields();
  return z.strictObject({ ...fields, ...acceptFields() });
}

/** `clients` */
export function clientsSchema({ dialects, hosts }: Pick<AdapterList, 'dialects' | 'hosts'>) {
  const match = z
    .strictObject({
      name: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe("The client's `clientInfo.name`; `*` matches any text: `codex-*`."),
      version: z
        .string()
        .max(100)
        .refine(isVersionRange, { error: 'must be a range of versions, such as ">=1.2 <2"' })
        .optional()
        .describe('Its `clientInfo.version`: `>=1.2 <2`. Numbers only; what follows them does not count.'),
      principal: z.string().min(1).max(256).optional().describe('The name of the caller, as in `auth.keys`.'),
    })
    .refine((by) => by.name !== undefined || by.principal !== undefined, {
      error: 'must hold "name" or "principal", or both',
    });
  const entry = z
    .strictObject({
      match: match.describe(
        'The clients of the entry. A name or a principal is required; all that is given must match.',
      ),
      dialects: z
        .array(z.enum(dialects.map(({ name }) => name) as [string, ...string[]]))
        .min(1, { error: 'must name at least one dialect' })
        .default([])
        .describe(
          `What such a client speaks although it does not declare it. ${dialects.map(({ name, about }) => `\`${name}\`: ${about}`).join(' ')}`,
        ),
      elicitation: z
        .array(z.enum(MEANS))
        .max(MEANS.length)
        .optional()
        .describe(
          'Ways in which such a client asks its user for a file, the preferred one first, whatever it declares; those ' +
            'that `elicitation.order` does not name are left out. `[]`: it is not asked, and its calls are answered ' +
            'with an upload link.',
        ),
      like: z
        .enum(hosts.map(({ name }) => name) as [string, ...string[]])
        .optional()
        .describe('The known host whose profile counts. Default: the one whose name and version match.'),
      host: hostSchema()
        .default({})
        .describe("How results are written for it, where that differs from its host's profile."),
      limits: hostLimitsSchema().optional().describe('Limits of the messages that such a client sends and gets.'),
    })
    .refine(
      ({ dialects: spoken, elicitation, like, host, limits }) =>
        [elicitation, like, limits].some((one) => one !== undefined) ||
        spoken.length > 0 ||
        Object.keys(host).length > 0,
      {
        error: 'must say something about the client: "dialects", "elicitation", "like", "host" or "limits"',
      },
    )
    .transform(({ elicitation, ...rest }) => ({ ...rest, ...(elicitation && { elicitation }) }));
  return z
    .array(entry)
    .max(1000)
    .transform((entries) =>
      entries.map(({ limits, ...rest }, index) => ({
        ...rest,
        ...(limits && { limits: withSource(limits, `clients[${index}].limits`) }),
      })),
    );
}

/** Only what is given, with the place that names the media types. */
function withSource(limits: Record<string, unknown>, place: string): LimitsOfSide {
  const given = Object.entries(limits).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return [];
    const isTypes = TYPE_LIMITS.some((one) => one === name);
    return [[name, isTypes ? [{ types: value as string[], source: `${place}.${name}` }] : value]];
  });
  return Object.fromEntries(given);
}
