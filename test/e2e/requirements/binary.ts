import { from, type Rows, specification, together } from './row.js';

const MESSAGES = 'docs/reference/messages.md';

/** Binary content in results: a guide’s recommendations, and what Wharf adds to them. */
export const BINARY: Rows = together(
  from(specification('server/tools#image-content', '2025-11-25'), {
    'BIN-01': 'Wharf writes an image block as padded base64 with the media type of its bytes.',
  }),
  from('https://alivemcp.com/seo/mcp-server-binary-content', {
    'BIN-03': 'Wharf leaves images of up to 500 kB inline.',
    'BIN-04': [
      'Wharf shows an image of 500 kB to 1.5 MB as a thumbnail of at most 800 pixels.',
      'superseded by the design',
    ],
    'BIN-05': 'Wharf replaces a large image by a reference and a preview.',
    'BIN-06': 'Wharf makes no preview that is larger than its image.',
    'BIN-07': 'Wharf puts a text beside each image that it replaces.',
    'BIN-08': 'Wharf puts the text before the image.',
    'BIN-09': ['Wharf turns images of unusual types into PNG.', 'superseded by the design'],
    'BIN-10': ['Wharf turns an SVG image into text.', 'superseded by the design'],
    'BIN-11': 'Wharf shows the first frame of an animation as its preview.',
    'BIN-12': 'Wharf replaces a PDF by a reference and a line of text.',
    'BIN-13': 'Wharf delivers large content, and content that is not an image, by reference.',
    'BIN-15': ['Wharf shortens a long text resource, and links to the whole text.', 'optional'],
    'BIN-16': 'Wharf links only to what the client can fetch.',
    'BIN-18': ['Wharf leaves at most five images in one result.', 'superseded by the design'],
    'BIN-20': 'Wharf tells in text what an image is, so that a client without images understands the result.',
    'BIN-21': ['Wharf writes every thumbnail as PNG.', 'superseded by the design'],
  }),
  from(specification('basic/patterns/cancellation'), {
    'BIN-25': 'Wharf cancels a call at the server when its client cancels it.',
  }),
  from(specification('server/tools#tool-result', '2025-11-25'), {
    'BIN-29': 'Wharf sends a client only the blocks and members that its protocol version has.',
  }),
  from(MESSAGES, {
    'BIN-02': 'Wharf reads base64 in every spelling, and leaves text that is not base64 as it is.',
    'BIN-14': 'Wharf treats an embedded blob as inline content with a limit of its own.',
    'BIN-17': 'Wharf gives clients a link of its own in place of a file: URI of the server.',
    'BIN-19': 'Wharf keeps the bytes, the order and the number of all other blocks.',
    'BIN-22': 'Wharf delivers a broken image as a file without a preview, and does not fail the call.',
    'BIN-23': 'Wharf does not decode an image that is a decompression bomb.',
    'BIN-24': 'Wharf keeps the text and the isError flag of a failed call.',
    'BIN-26': 'Wharf states the size of the original file.',
    'BIN-27': 'Wharf copies the annotations of a block to the blocks that replace it.',
    'BIN-28': ['Wharf makes no thumbnail for a client that fetches the file anyway.', 'optional'],
  }),
);
