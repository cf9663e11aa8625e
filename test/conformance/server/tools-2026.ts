import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { NO_ARGUMENTS, pause, type Tool, type ToolResult, textResult } from './fixture.js';

/** What a tool that asks in rounds remembers between them, sealed in `requestState`. */
export interface RoundState {
  round: number;
}

/** What one server instance lends its tools. */
export interface Surroundings {
  codec: RequestStateCodec<RoundState>;
  toolsChanged(): void | Promise<void>;
  promptsChanged(): void | Promise<void>;
}

export interface Tool2026 extends Omit<Tool, 'run'> {
  run(
    args: Record<string, unknown>,
    context: ServerContext,
    surroundings: Surroundings,
  ): Promise<ToolResult | InputRequiredResult>;
}

type Kind = 'elicitation' | 'sampling' | 'roots';

export function elicitString(message: string, name: string): InputRequest {
  const properties = { [name]: { type: 'string' as const } };
  return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: [name] } });
}

function sample(prompt: string, maxTokens: number): InputRequest {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
  return inputRequired.createMessage({ messages, maxTokens });
}

/** Whether the client answered `key` with an answer of the right kind. */
export function isAnswered(context: ServerContext, key: string, kind: Kind): boolean {
  const answer = inputResponse(context.mcpReq.inputResponses, key);
  if (answer.kind === 'elicit') return kind === 'elicitation' && answer.action === 'accept';
  return answer.kind === kind;
}

function kindOf(request: InputRequest): Kind {
  if (request.method === 'elicitation/create') return 'elicitation';
  return request.method === 'roots/list' ? 'roots' : 'sampling';
}

/** A tool that asks for everything in `rounds[n]` at once, then for the next, then says what it was told. */
function asking(name: string, rounds: Record<string, InputRequest>[], options: { state: boolean; done?: string }) {
  const tool: Tool2026 = {
    name,
    description: `Asks the client in ${rounds.length} round(s) before it answers`,
    inputSchema: NO_ARGUMENTS,
    async run(_args, context, { codec }) {
      let round = context.mcpReq.requestState<RoundState>()?.round ?? 0;
      const asked = rounds[round] ?? {};
      const isComplete = Object.entries(asked).every(([key, request]) => isAnswered(context, key, kindOf(request)));
      const hasState = !options.state || context.mcpReq.requestState() !== undefined;
      if (isComplete && hasState) round += 1;
      const next = rounds[round];
      if (next === undefined) {
        return textResult(`${options.done ?? 'answered'}: ${JSON.stringify(context.mcpReq.inputResponses)}`);
      }
      if (!options.state) return inputRequired({ inputRequests: next });
      return inputRequired({ inputRequests: next, requestState: await codec.mint({ round }) });
    },
  };
  return tool;
}

const userName = elicitString('What is your name?', 'name');
const capital = sample('What is the capital of France?', 100);
const confirm = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
});

const ASKING_TOOLS: Tool2026[] = [
  asking('test_input_required_result_elicitation', [{ user_name: userName }], { state: false }),
  asking('test_input_required_result_sampling', [{ capital_question: capital }], { state: false }),
  asking('test_input_required_result_list_roots', [{ client_roots: inputRequired.listRoots() }], { state: false }),
  asking('test_input_required_result_request_state', [{ confirm }], { state: true, done: 'state-ok' }),
  asking('test_input_required_result_tampered_state', [{ confirm }], { state: true }),
  asking(
    'test_input_required_result_multiple_inputs',
    [{ user_name: userName, greeting: sample('Generate a greeting', 50), client_roots: inputRequired.listRoots() }],
    { state: true },
  ),
  asking(
    'test_input_required_result_multi_round',
    [
      { step1: elicitString('Step 1: What is your name?', 'name') },
      { step2: elicitString('Step 2: What is your favorite color?', 'color') },
    ],
    { state: true },
  ),
];

/** What the client declared in the `_meta` of this very request. */
function capabilities(context: ServerContext): ClientCapabilities | undefined {
  const envelope: Record<string, unknown> = context.mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

const CAPABILITY_TOOLS: Tool2026[] = [
  {
    name: 'test_input_required_result_capabilities',
    description: 'Asks only for what the client declared',
    inputSchema: NO_ARGUMENTS,
    async run(_args, context) {
      if (context.mcpReq.inputResponses !== undefined) return textResult('answered');
      const declared = capabilities(context);
      const inputRequests: Record<string, InputRequest> = {};
      if (declared?.elicitation !== undefined) inputRequests.user_name = userName;
      if (declared?.sampling !== undefined) inputRequests.capital_question = capital;
      return Object.keys(inputRequests).length === 0
        ? textResult('nothing can be asked')
        : inputRequired({ inputRequests });
    },
  },
  {
    name: 'test_missing_capability',
    description: "Needs the client's model, and asks it whatever the client declared: the SDK refuses with -32021",
    inputSchema: NO_ARGUMENTS,
    async run(_args, context) {
      if (isAnswered(context, 'capital_question', 'sampling')) return textResult('answered');
      return inputRequired({ inputRequests: { capital_question: capital } });
    },
  },
];

const STREAMING_TOOLS: Tool2026[] = [
  {
    name: 'test_streaming_elicitation',
    description: 'Asks the user after it reported progress on its stream',
    inputSchema: NO_ARGUMENTS,
    async run(_args, context) {
      // The token is the caller's; without one the notification names a token that no client waits for.
      const progressToken = context.mcpReq._meta?.progressToken ?? 'test_streaming_elicitation';
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 0, total: 1 },
      });
      await pause(50, context.mcpReq.signal);
      return inputRequired({ inputRequests: { user_name: userName } });
    },
  },
  {
    name: 'test_logging_tool',
    description: 'Logs a line, which only a request with a log level may receive',
    inputSchema: NO_ARGUMENTS,
    async run(_args, context) {
      await context.mcpReq.log('info', 'Logged by the tool');
      return textResult('logged');
    },
  },
  {
    name: 'test_header_param',
    description: 'Takes an argument that is repeated in a header',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    },
    run: async (args) => textResult(`region: ${args.region}`),
  },
];

const LIST_TOOLS: Tool2026[] = [
  {
    name: 'test_trigger_tool_change',
    description: 'Says that the list of tools changed',
    inputSchema: NO_ARGUMENTS,
    async run(_args, _context, { toolsChanged }) {
      await toolsChanged();
      return textResult('tools changed');
    },
  },
  {
    name: 'test_trigger_prompt_change',
    description: 'Says that the list of prompts changed',
    inputSchema: NO_ARGUMENTS,
    async run(_args, _context, { promptsChanged }) {
      await promptsChanged();
      return textResult('prompts changed');
    },
  },
];

/** Tools of 2026-07-28: input by rounds instead of requests to the client, lists with subscriptions. */
export const TOOLS_2026: Tool2026[] = [...ASKING_TOOLS, ...CAPABILITY_TOOLS, ...STREAMING_TOOLS, ...LIST_TOOLS];
