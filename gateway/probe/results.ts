import type { Codes } from './codes.js';
import { documentOf } from './document.js';
import { pictureOf } from './picture.js';

/** The tools whose results hold codes, each with the question it answers. */
export const PROBES = {
  probe_text: 'a text',
  probe_structured: 'a text, a picture and structuredContent',
  probe_picture: 'a picture',
  probe_link: 'a resource_link',
  probe_resource: 'an embedded text',
  probe_blob: 'an embedded PDF',
  probe_error: 'an error with a text and a picture',
  probe_audience: 'a text for the user and one for the assistant',
  probe_long: 'a long text',
} as const;

export type ProbeName = keyof typeof PROBES;

export const STRUCTURED_SCHEMA = {
  type: 'object',
  properties: { code: { type: 'string' } },
  required: ['code'],
} as const;

const picture = (digits: string, hidden?: string) => ({
  type: 'image',
  data: pictureOf(digits, hidden).toString('base64'),
  mimeType: 'image/png',
});
const text = (code: string) => ({ type: 'text', text: `The code is ${code}.` });

/** What a result's link, or blob, is called. */
export const linkUri = (codes: Codes) => `probe://link/${codes.linkAddress}`;
const blobUri = (codes: Codes) => `probe://blob/${codes.blobAddress}.pdf`;

/** The result of each tool. */
export const RESULTS: Readonly<Record<ProbeName, (codes: Codes) => Record<string, unknown>>> = {
  probe_text: (codes) => ({ content: [text(codes.text)] }),
  probe_structured: (codes) => ({
    content: [text(codes.besideText), picture(codes.besidePicture)],
    structuredContent: { code: codes.besideJson },
  }),
  probe_picture: (codes) => ({ content: [picture(codes.picture)] }),
  probe_link: (codes) => ({
    content: [
      {
        type: 'resource_link',
        uri: linkUri(codes),
        name: 'a linked text',
        mimeType: 'text/plain',
        // a model sees this only if it is shown the block as JSON
        _meta: { code: codes.linkMeta },
      },
    ],
  }),
  probe_resource: (codes) => ({
    content: [
      {
        type: 'resource',
        resource: { uri: 'probe://text', mimeType: 'text/plain', text: text(codes.resourceText).text },
      },
    ],
  }),
  probe_blob: (codes) => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: blobUri(codes),
          mimeType: 'application/pdf',
          blob: documentOf(codes.blobContent, codes.blobBase64).toString('base64'),
        },
      },
    ],
  }),
  probe_error: (codes) => ({
    content: [text(codes.errorText), picture(codes.errorPicture, codes.errorBase64)],
    isError: true,
  }),
  probe_audience: (codes) => ({
    content: [
      { ...text(codes.forUser), annotations: { audience: ['user'] } },
      { ...text(codes.forAssistant), annotations: { audience: ['assistant'] } },
    ],
  }),
  probe_long: (codes) => ({ content: [{ type: 'text', text: longText(codes) }] }),
};

/** Codes between words that say nothing. */
function longText({ long }: Codes): string {
  let written = '';
  for (const { code, at } of long) {
    const end = ` Code: ${code}.`;
    written += 'lorem ipsum dolor sit amet '
      .repeat(Math.ceil((at - written.length) / 27))
      .slice(0, at - written.length);
    written = written.slice(0, at - end.length) + end;
  }
  return written;
}
