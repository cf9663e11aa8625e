import { PNG_BASE64 } from './bytes.js';
import { type Block, type Prompt, text } from './fixture.js';

const user = (content: Block) => ({ role: 'user' as const, content });

export const PROMPTS: Prompt[] = [
  {
    name: 'test_simple_prompt',
    description: 'One text message',
    messages: () => [user(text('This is a simple prompt for testing.'))],
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'A message made of its arguments',
    arguments: [
      { name: 'arg1', description: 'First test argument', required: true },
      { name: 'arg2', description: 'Second test argument', required: true },
    ],
    messages: (args) => [user(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`))],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A message that holds a resource',
    arguments: [{ name: 'resourceUri', description: 'URI of the resource to embed', required: true }],
    messages: (args) => [
      user({
        type: 'resource',
        resource: {
          uri: args.resourceUri,
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      }),
      user(text('Please process the embedded resource above.')),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'A message that holds an image',
    messages: () => [
      user({ type: 'image', data: PNG_BASE64, mimeType: 'image/png' }),
      user(text('Please analyze the image above.')),
    ],
  },
];
