import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type GetPromptResult,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Talk } from './fixture.js';
import { PROMPTS } from './prompts.js';
import { RESOURCES, readResource, TEMPLATE } from './resources.js';
import { TOOLS } from './tools.js';
import { TOOLS_2025 } from './tools-2025.js';

/** The SDK's code for a resource that is not there, up to 2025-11-25. */
const RESOURCE_NOT_FOUND = -32002;

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

function talkOf(server: Server, extra: Extra): Talk {
  const token = extra._meta?.progressToken;
  const talk: Talk = {
    signal: extra.signal,
    async progress(progress, total) {
      if (token === undefined) return;
      const params = { progressToken: token, progress, total };
      await extra.sendNotification({ method: 'notifications/progress', params });
    },
    log: (level, data) => extra.sendNotification({ method: 'notifications/message', params: { level, data } }),
  };
  const declared = server.getClientCapabilities();
  if (declared?.sampling !== undefined) {
    talk.sample = async (prompt) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
      const request = { method: 'sampling/createMessage' as const, params: { messages, maxTokens: 100 } };
      const { content } = await extra.sendRequest(request, CreateMessageResultSchema);
      return content.type === 'text' ? content.text : content.type;
    };
  }
  if (declared?.elicitation !== undefined) {
    // The low-level request is sent as written: Server.elicitInput() would add defaults of its own to the answer.
    talk.elicit = (message, requestedSchema) =>
      extra.sendRequest(
        { method: 'elicitation/create', params: { message, requestedSchema } } as ServerRequest,
        ElicitResultSchema,
      );
  }
  if (extra.closeSSEStream !== undefined) talk.closeStream = extra.closeSSEStream;
  return talk;
}

/** One session of the fixtures' server in the protocol's eras up to 2025-11-25, not yet connected. */
export function server2025(): Server {
  const server = new Server(
    { name: 'wharf-conformance', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  const tools = [...TOOLS, ...TOOLS_2025];
  const subscribed = new Set<string>();

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Tool ${params.name} not found`);
    try {
      return { ...(await tool.run(params.arguments ?? {}, talkOf(server, extra))) };
    } catch (error) {
      return { content: [{ type: 'text', text: String(error) }], isError: true };
    }
  });

  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: PROMPTS.map(({ messages: _, ...listed }) => listed),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `Prompt ${params.name} not found`);
    return { messages: prompt.messages(params.arguments ?? {}) } as GetPromptResult;
  });

  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: RESOURCES.map(({ contents: _, ...listed }) => listed),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => {
    const item = readResource(params.uri);
    if (item === undefined) throw new McpError(RESOURCE_NOT_FOUND, `Resource ${params.uri} not found`);
    return { contents: [item] };
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });

  server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
    const known = ['paris', 'park', 'party'].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values: known, total: known.length, hasMore: false } };
  });
  return server;
}
