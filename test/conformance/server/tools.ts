import { PNG_BASE64, WAV_BASE64 } from './bytes.js';
import { NO_ARGUMENTS, pause, type Tool, text, textResult } from './fixture.js';

/** Uses every keyword the suite looks for after a tools/list, so one that is dropped on the way shows. */
const DIALECT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema 2020-12
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

const image = { type: 'image', data: PNG_BASE64, mimeType: 'image/png' };
const audio = { type: 'audio', data: WAV_BASE64, mimeType: 'audio/wav' };

/** Tools that mean the same in every era. */
export const TOOLS: Tool[] = [
  {
    name: 'test_simple_text',
    description: 'Returns one text block',
    inputSchema: NO_ARGUMENTS,
    run: () => textResult('This is a simple text response for testing.'),
  },
  {
    name: 'test_image_content',
    description: 'Returns one image block',
    inputSchema: NO_ARGUMENTS,
    run: () => ({ content: [image] }),
  },
  {
    name: 'test_audio_content',
    description: 'Returns one audio block',
    inputSchema: NO_ARGUMENTS,
    run: () => ({ content: [audio] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Returns one embedded text resource',
    inputSchema: NO_ARGUMENTS,
    run: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Returns text, an image and a resource',
    inputSchema: NO_ARGUMENTS,
    run: () => ({
      content: [
        text('Multiple content types test:'),
        image,
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Always fails',
    inputSchema: NO_ARGUMENTS,
    run: () => ({ ...textResult('This tool intentionally returns an error for testing'), isError: true }),
  },
  {
    name: 'test_tool_with_progress',
    description: 'Reports its progress three times',
    inputSchema: NO_ARGUMENTS,
    run: async (_args, talk) => {
      for (const done of [0, 50, 100]) {
        await talk.progress(done, 100);
        await pause(50, talk.signal);
      }
      return textResult('Progress is complete');
    },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Declares arguments with JSON Schema 2020-12',
    inputSchema: DIALECT_SCHEMA,
    run: (args) => textResult(JSON.stringify(args)),
  },
];
