import { NO_ARGUMENTS, pause, type Talk, type Tool, textResult } from './fixture.js';

const string = { type: 'string' } as const;
const values = ['option1', 'option2', 'option3'];
const titled = ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title }));

function oneString(name: string, description: string) {
  return { type: 'object', properties: { [name]: { type: 'string', description } }, required: [name] } as const;
}

async function ask(talk: Talk, message: string, schema: Record<string, unknown>) {
  if (talk.elicit === undefined) throw new Error('the client cannot be asked');
  return textResult(`User response: ${JSON.stringify(await talk.elicit(message, schema))}`);
}

/** Tools that need what only the eras with a session have: logs, requests to the client, resumable streams. */
export const TOOLS_2025: Tool[] = [
  {
    name: 'test_tool_with_logging',
    description: 'Logs three lines while it runs',
    inputSchema: NO_ARGUMENTS,
    run: async (_args, talk) => {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await talk.log('info', line);
        await pause(50, talk.signal);
      }
      return textResult('Three lines are logged');
    },
  },
  {
    name: 'test_sampling',
    description: "Asks the client's model",
    inputSchema: oneString('prompt', 'What the model is asked'),
    run: async (args, talk) => {
      if (talk.sample === undefined) throw new Error('the client has no model');
      return textResult(`LLM response: ${await talk.sample(String(args.prompt))}`);
    },
  },
  {
    name: 'test_elicitation',
    description: "Asks the client's user",
    inputSchema: oneString('message', 'What the user is asked'),
    run: (args, talk) =>
      ask(talk, String(args.message), {
        type: 'object',
        properties: {
          username: { ...string, description: "User's response" },
          email: { ...string, description: "User's email address" },
        },
        required: ['username', 'email'],
      }),
  },
  {
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks the user with a default for each primitive type',
    inputSchema: NO_ARGUMENTS,
    run: (_args, talk) =>
      ask(talk, 'Please check the defaults', {
        type: 'object',
        properties: {
          name: { ...string, default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { ...string, enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
        required: [],
      }),
  },
  {
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks the user with each way to write an enumeration',
    inputSchema: NO_ARGUMENTS,
    run: (_args, talk) =>
      ask(talk, 'Please choose', {
        type: 'object',
        properties: {
          untitledSingle: { ...string, enum: values },
          titledSingle: { ...string, oneOf: titled },
          legacyEnum: {
            ...string,
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { ...string, enum: values } },
          titledMulti: { type: 'array', items: { anyOf: titled } },
        },
        required: [],
      }),
  },
  {
    name: 'test_reconnection',
    description: 'Closes its stream before it answers, so that the client has to resume',
    inputSchema: NO_ARGUMENTS,
    run: async (_args, talk) => {
      await pause(50, talk.signal);
      talk.closeStream?.();
      await pause(100, talk.signal);
      return textResult('Answered after the stream was closed');
    },
  },
];
