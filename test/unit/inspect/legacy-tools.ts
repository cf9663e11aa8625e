import type { FileArgument } from '../../../gateway/ports/file-slot.js';
import type { JsonObject } from '../../../gateway/ports/json.js';

/** Tools as servers declare them that know nothing of files, with what there is to find in each. */
interface LegacyTool {
  name: string;
  description?: string;
  properties: JsonObject;
  /** `$defs` and the like. */
  more?: JsonObject;
  expected: (FileArgument & { confidence: string })[];
}

const text = (description?: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  ...(description === undefined ? {} : { description }),
  ...more,
});
const found = (path: string, confidence: string, settings: Omit<FileArgument, 'path'>) => ({
  path,
  confidence,
  ...settings,
});

export const LEGACY_TOOLS: LegacyTool[] = [
  {
    name: 'ocr_image',
    description: 'Extracts text from an image.',
    properties: {
      image_base64: text('Base64-encoded image'),
      filename: text(),
      mime: text(undefined, { enum: ['image/png', 'image/jpeg'] }),
      language: text('ISO 639 code', { default: 'eng' }),
    },
    expected: [
      found('image_base64', 'certain', {
        encoding: 'base64',
        accept: ['image/png', 'image/jpeg'],
        name: 'filename',
        mimeType: 'mime',
      }),
    ],
  },
  {
    name: 'pdf_extract_text',
    properties: {
      pdf: text(undefined, { contentEncoding: 'base64', contentMediaType: 'application/pdf' }),
      pages: { type: 'array', items: { type: 'integer' } },
    },
    expected: [found('pdf', 'certain', { encoding: 'base64', accept: ['application/pdf'] })],
  },
  {
    name: 'send_email',
    description: 'Sends an email.',
    properties: {
      to: { type: 'array', items: { type: 'string', format: 'email' } },
      subject: text('Subject'),
      body: text('Plain text body'),
      attachments: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            filename: text('Name of the file'),
            content: text('Base64 encoded content of the file'),
            contentType: text('MIME type'),
          },
        },
      },
    },
    expected: [
      found('attachments[]', 'certain', {
        encoding: 'object',
        template: { filename: '$name', content: '$base64', contentType: '$mime' },
      }),
    ],
  },
  {
    name: 'analyze_image',
    description: 'Describes an image by a vision model.',
    properties: { image_url: text('URL of the image, or a data URI'), prompt: text('What to look for') },
    expected: [found('image_url', 'likely', { encoding: 'dataUri' })],
  },
  {
    name: 'vision',
    properties: {
      image: text('Image as base64 string or data URL'),
      base64_image: text('Base64 string without the data URI prefix'),
    },
    expected: [
      found('image', 'likely', { encoding: 'base64' }),
      found('base64_image', 'certain', { encoding: 'base64' }),
    ],
  },
  {
    name: 'transcribe',
    description: 'Transcribes speech.',
    properties: {
      audioData: text('WAV data, data:audio/wav;base64,…'),
      language: text(),
    },
    expected: [found('audioData', 'likely', { encoding: 'dataUri' })],
  },
  {
    name: 'upload_file',
    description: 'Uploads a file to the drive.',
    properties: { name: text('File name'), content: text(), mimeType: text(), folder_id: text() },
    expected: [found('content', 'likely', { encoding: 'base64', name: 'name', mimeType: 'mimeType' })],
  },
  {
    name: 'messages_create',
    properties: {
      messages: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            role: text(undefined, { enum: ['user', 'assistant'] }),
            source: {
              oneOf: [
                {
                  type: 'object',
                  properties: { type: { const: 'base64' }, media_type: text(), data: text() },
                },
                { type: 'object', properties: { type: { const: 'url' }, url: text() } },
              ],
            },
          },
        },
      },
    },
    expected: [
      found('messages[].source', 'likely', {
        encoding: 'object',
        template: { type: 'base64', media_type: '$mime', data: '$base64' },
      }),
    ],
  },
  {
    name: 'flash_firmware',
    properties: {
      firmware: text('Hex-encoded firmware image'),
      color: text('Hex string of the LED colour'),
      device_id: text('Hex string ID of the device'),
    },
    expected: [found('firmware', 'likely', { encoding: 'hex' })],
  },
  {
    name: 'store_bytes',
    properties: {
      bytes: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 }, description: 'Bytes of the file' },
      weights: { type: 'array', items: { type: 'integer' } },
    },
    expected: [found('bytes', 'likely', { encoding: 'bytes' })],
  },
  {
    // zod writes `number` for integers that it does not call so
    name: 'store_numbers',
    properties: {
      fileBytes: { type: 'array', items: { type: 'number', minimum: 0, maximum: 255 } },
      data: { type: 'array', items: { type: 'number' } },
      values: { type: 'array', items: { type: 'number', minimum: 0, maximum: 100 }, description: 'Values to plot' },
    },
    expected: [found('fileBytes', 'likely', { encoding: 'bytes' })],
  },
  {
    // as Node.js writes a Buffer in JSON
    name: 'put_object',
    properties: {
      key: text(),
      body: {
        type: 'object',
        properties: { type: { type: 'string', const: 'Buffer' }, data: { type: 'array', items: { type: 'number' } } },
      },
    },
    expected: [found('body', 'likely', { encoding: 'object', template: { type: 'Buffer', data: '$bytes' } })],
  },
  {
    name: 'put_document',
    properties: { file_bytes: text(), max_file_bytes: text(), binaryData: text(), bytes: text(), buffer: text() },
    expected: [
      found('file_bytes', 'likely', { encoding: 'base64' }),
      found('binaryData', 'likely', { encoding: 'base64' }),
    ],
  },
  {
    // as Microsoft Graph has the body of a mail
    name: 'send_mail',
    properties: {
      body: {
        type: 'object',
        properties: {
          content: text('The content of the item.'),
          contentType: text(undefined, { enum: ['text', 'html'] }),
        },
      },
      note: { type: 'object', properties: { content: text(), contentType: text('text/plain or text/html') } },
      page: { type: 'object', properties: { content: text(), mimeType: text(undefined, { const: 'text/html' }) } },
      picture: {
        type: 'object',
        properties: { data: text(), type: text(), mimeType: text('image/png or text/plain') },
      },
      stored: {
        type: 'object',
        properties: { content: text('base64'), contentType: text(undefined, { enum: ['a', 'b'] }) },
      },
    },
    expected: [
      found('picture.data', 'likely', { encoding: 'base64', mimeType: 'mimeType' }),
      found('stored.content', 'likely', { encoding: 'base64' }),
    ],
  },
  {
    name: 'create_file',
    description: 'Creates a file in the drive.',
    properties: {
      name: text('Name of the file to create'),
      mimeType: text('MIME type of the file'),
      content: text('Content of the file'),
      scan: { type: 'object', properties: { content: text(), mimeType: text(), note: text() } },
    },
    expected: [
      found('content', 'possible', { encoding: 'base64', name: 'name', mimeType: 'mimeType' }),
      found('scan.content', 'likely', { encoding: 'base64', mimeType: 'mimeType' }),
    ],
  },
  {
    name: 'generate_image',
    description: 'Generates an image and uploads it.',
    properties: {
      prompt: text(),
      output_file: text('Where the image goes'),
      blob_prefix: text(),
      target_image: text(),
    },
    expected: [found('target_image', 'possible', { encoding: 'base64' })],
  },
  {
    name: 'sign_document',
    properties: {
      signature: text('Base64 image of the handwritten signature'),
      stamp: text('Base64 PNG of a signature'),
      summary: text('Base64 encoded PDF of key figures'),
      token: text('Base64 of the signature of the image'),
    },
    expected: [
      found('signature', 'likely', { encoding: 'base64' }),
      found('stamp', 'likely', { encoding: 'base64' }),
      found('summary', 'likely', { encoding: 'base64' }),
    ],
  },
  {
    name: 'compare_images',
    description: 'Compares two pictures.',
    properties: {
      imageA: text('First image, base64'),
      imageA_name: text(),
      imageB: text('Second image, base64'),
      filename: text('Name of something'),
    },
    expected: [
      found('imageA', 'likely', { encoding: 'base64', name: 'imageA_name' }),
      found('imageB', 'likely', { encoding: 'base64' }),
    ],
  },
  {
    name: 'stitch',
    properties: {
      images: { type: 'array', items: { type: 'string' }, description: 'Base64-encoded images' },
      filenames: { type: 'array', items: { type: 'string' } },
      output_path: text('Path of the file to write'),
    },
    expected: [found('images[]', 'likely', { encoding: 'base64', name: 'filenames[]' })],
  },
  {
    name: 'add_document',
    properties: {
      document: { $ref: '#/$defs/Document' },
      replaces: { anyOf: [{ $ref: '#/$defs/Document' }, { type: 'null' }] },
    },
    more: {
      $defs: {
        Document: {
          type: 'object',
          properties: {
            blob: { anyOf: [{ type: 'string', format: 'byte' }, { type: 'null' }] },
            file_name: text(),
            size_bytes: { type: 'integer' },
            tags: { type: 'array', items: { type: 'string' } },
          },
        },
      },
    },
    expected: [
      found('document.blob', 'certain', { encoding: 'base64', name: 'file_name', size: 'size_bytes' }),
      found('replaces.blob', 'certain', { encoding: 'base64', name: 'file_name', size: 'size_bytes' }),
    ],
  },
  {
    name: 'convert_document',
    description: 'Converts an office document to PDF.',
    properties: { input_path: text('Path to the document to convert'), output_path: text('Where to save the PDF') },
    expected: [found('input_path', 'possible', { encoding: 'localPath' })],
  },
  {
    name: 'fetch_thumbnail',
    properties: { image: text(), image_url: text('URL of the image'), photo_id: text() },
    expected: [
      found('image', 'possible', { encoding: 'base64' }),
      found('image_url', 'possible', { encoding: 'httpsUrl' }),
    ],
  },
  {
    name: 'create_blob',
    description: 'Creates a git blob.',
    properties: {
      owner: text(),
      repo: text(),
      content: text("The new blob's content"),
      encoding: text(undefined, { enum: ['utf-8', 'base64'] }),
    },
    expected: [found('content', 'possible', { encoding: 'base64' })],
  },
  {
    name: 'import_spreadsheet',
    properties: { data: text('The workbook', { pattern: '^[A-Za-z0-9+/]+={0,2}$' }), sheet: text() },
    expected: [found('data', 'likely', { encoding: 'base64' })],
  },
  {
    // as Pydantic writes an argument of the type `bytes`
    name: 'take_bytes',
    properties: { data: text(undefined, { format: 'binary' }) },
    expected: [found('data', 'possible', { encoding: 'base64' })],
  },
  {
    name: 'set_avatar',
    properties: { avatar: text('The picture', { examples: ['data:image/png;base64,iVBORw0KGgo='] }) },
    expected: [found('avatar', 'likely', { encoding: 'dataUri' })],
  },
  {
    name: 'verify',
    description: 'Takes a base64url signature.',
    properties: { payload: text('URL-safe base64 of the payload'), signature: text('Base64-encoded signature') },
    expected: [found('payload', 'likely', { encoding: 'base64url' })],
  },
  {
    name: 'base64_encode',
    description: 'Encodes text.',
    properties: { input: text('The text to base64 encode'), text: text('Text that is converted to base64') },
    expected: [],
  },
  {
    name: 'create_or_update_file',
    description: 'Creates a file in a repository.',
    properties: { path: text('Path in the repository'), content: text('Content of the file'), message: text() },
    expected: [],
  },
  {
    name: 'search',
    properties: {
      query: text(),
      cursor: text('Base64-encoded cursor of the next page'),
      auth: text('base64 encoded credentials'),
      since: text('A date in base64', { format: 'date-time' }),
      kind: text('base64 or text', { enum: ['base64', 'text'] }),
      data: text('Base64 of at most 60 bytes', { maxLength: 80 }),
    },
    expected: [],
  },
  {
    name: 'run_query',
    properties: {
      data: { type: 'object', properties: { rows: { type: 'array', items: { type: 'object' } } } },
      parameters: { type: 'array', items: { type: 'integer' } },
      image_count: { type: 'integer' },
      is_base64: { type: 'boolean' },
      file_format: text(),
      document_id: text(),
      image_prompt: text('What the image shows'),
    },
    expected: [],
  },
  {
    name: 'download_images',
    description: 'Downloads the images of a drawing.',
    properties: {
      nodes: {
        type: 'array',
        items: {
          type: 'object',
          properties: { imageRef: text('Of an image fill'), imageHash: text(), gifRef: text() },
        },
      },
    },
    expected: [],
  },
  {
    name: 'fetch_images',
    description: 'Fetches a page. Its images can be given as base64.',
    properties: {
      returnBase64: { type: ['boolean', 'string'] },
      save_base64: { anyOf: [{ type: 'boolean' }, { type: 'string' }] },
      images: { type: ['string', 'boolean', 'null'] },
      stamp: { anyOf: [{ type: 'boolean' }, text(undefined, { contentEncoding: 'base64' })] },
    },
    expected: [found('stamp', 'certain', { encoding: 'base64' })],
  },
];
