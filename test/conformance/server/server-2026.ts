import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  type McpHttpHandler,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Talk } from './fixture.js';
import { refuseForeign } from './local-only.js';
import { PROMPTS } from './prompts.js';
import { RESOURCES, readResource, TEMPLATE } from './resources.js';
import { TOOLS } from './tools.js';
import {
  elicitString,
  isAnswered,
  type RoundState,
  type Surroundings,
  TOOLS_2026,
  type Tool2026,
} from './tools-2026.js';

const ASKING_PROMPT = {
  name: 'test_input_required_result_prompt',
  description: 'Asks the user before it answers',
};

function talkOf(context: ServerContext): Talk {
  const progressToken = context.mcpReq._meta?.progressToken;
  return {
    signal: context.mcpReq.signal,
    log: (level, data) => context.mcpReq.log(level, data),
    async progress(progress, total) {
      if (progressToken === undefined) return;
      await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
    },
  };
}

const tools: Tool2026[] = [
  ...TOOLS.map((tool) => ({
    ...tool,
    run: async (args: Record<string, unknown>, context: ServerContext) => tool.run(args, talkOf(context)),
  })),
  ...TOOLS_2026,
];

// One key for all instances: over HTTP each request is answered by an instance of its own.
const codec = createRequestStateCodec<RoundState>({ key: randomBytes(32) });

type Changes = Pick<Surroundings, 'toolsChanged' | 'promptsChanged'>;

/** One instance of the fixtures' server for 2026-07-28; `changes` where an instance cannot reach the subscriptions. */
function server2026(changes?: Changes): McpServer {
  const mcp = new McpServer(
    { name: 'wharf-conformance', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      cacheHints: { 'tools/list': { ttlMs: 1000, cacheScope: 'public' } },
      requestState: { verify: codec.verify },
    },
  );
  const { server } = mcp;
  const surroundings: Surroundings = {
    codec,
    toolsChanged: changes?.toolsChanged ?? (() => server.sendToolListChanged()),
    promptsChanged: changes?.promptsChanged ?? (() => server.sendPromptListChanged()),
  };

  // Through McpServer, for it alone holds `Mcp-Param-…` headers against the tool's schema.
  for (const { name, description, inputSchema, run } of tools) {
    const declared = { description, inputSchema: fromJsonSchema<Record<string, unknown>>(inputSchema) };
    mcp.registerTool(name, declared, async (args, context) => (await run(args, context, surroundings)) as never);
  }

  server.setRequestHandler('prompts/list', () => ({
    prompts: [...PROMPTS.map(({ messages: _, ...listed }) => listed), ASKING_PROMPT],
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    if (params.name === ASKING_PROMPT.name) {
      if (!isAnswered(context, 'user_context', 'elicitation')) {
        const user_context = elicitString('What context should the prompt use?', 'context');
        return inputRequired({ inputRequests: { user_context } });
      }
      const text = JSON.stringify(context.mcpReq.inputResponses);
      return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
    }
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (prompt === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt ${params.name} not found`);
    }
    return { messages: prompt.messages(params.arguments ?? {}) } as never;
  });

  server.setRequestHandler('resources/list', () => ({
    resources: RESOURCES.map(({ contents: _, ...listed }) => listed),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    const item = readResource(params.uri);
    if (item === undefined) throw new ResourceNotFoundError(params.uri);
    return { contents: [item] };
  });

  server.setRequestHandler('completion/complete', ({ params }) => {
    const known = ['paris', 'park', 'party'].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values: known, total: known.length, hasMore: false } };
  });
  return mcp;
}

/** Serves the fixtures over Streamable HTTP as of 2026-07-28: no sessions, one instance for each request. */
export function http2026(): HttpServer {
  const handler: McpHttpHandler = createMcpHandler(
    () =>
      server2026({
        toolsChanged: () => handler.notify.toolsChanged(),
        promptsChanged: () => handler.notify.promptsChanged(),
      }),
    { legacy: 'reject' },
  );
  const listener = getRequestListener((request) => handler.fetch(request));
  return createServer((request, response) => {
    if (!refuseForeign(request, response)) void listener(request, response);
  });
}

/** Serves the fixtures on stdin and stdout as of 2026-07-28. */
export function stdio2026(): void {
  serveStdio(() => server2026(), { legacy: 'reject' });
}
