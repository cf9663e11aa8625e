import type { Seen, ToolResult } from './host-model.js';
import { joined, NOTHING, said } from './host-model.js';

type Json = Record<string, unknown>;

/** Asks the server for a resource, as hosts do; undefined when it is refused. */
export type Read = (uri: string) => { text?: string; blob?: string } | undefined;

/** What the code of a host makes of a result on the way to its model. */
type Replay = (result: ToolResult, read: Read) => Seen;

const IMAGE: Seen = { ...NOTHING, images: 1 };
const FILE: Seen = { ...NOTHING, files: 1 };

const textOf = (block: Json) => said(String(block.text));
const resourceOf = (block: Json) => block.resource as Json;
const isAttachable = (type: unknown) => /^image\/(?:png|jpe?g|gif|webp|bmp|tiff)$/.test(String(type));

/** Text beyond a limit goes into a file; the model gets its place and at most its ends. */
function saved(seen: Seen, most: number, length = seen.text.length): Seen {
  return length <= most ? seen : { ...seen, text: 'Written to a file.', isCut: true };
}

/** microsoft/vscode mcpLanguageModelToolContribution.ts, then vscode-copilot-chat toolCalling.tsx. */
const vscode: Replay = ({ content, structuredContent }, read) => {
  let budget = (5 * 1024 * 1024) / 2;
  const image = (data: string): Seen => {
    budget -= Buffer.byteLength(data, 'base64');
    return budget < 0 ? NOTHING : IMAGE;
  };
  const linked = (uri: string, held?: { text?: string; blob?: string }): Seen => {
    const { text, blob } = held ?? read(uri) ?? { text: 'failed to read resource' };
    const lines = (text ?? Buffer.from(blob ?? '', 'base64').toString('utf8')).split('\n');
    return said(`<resource uri="${uri}">\n${lines.slice(0, 500).join('\n')}\n</resource>`);
  };
  const block = (one: Json): Seen => {
    const { type, mimeType } = one;
    if (type === 'text') return structuredContent ? NOTHING : saved(textOf(one), 8192);
    if (type === 'image') return image(String(one.data));
    if (type === 'resource_link') {
      return isAttachable(mimeType) ? image(read(String(one.uri))?.blob ?? '') : linked(String(one.uri));
    }
    if (type !== 'resource') return NOTHING;
    const resource = resourceOf(one) as { uri: string; mimeType?: string; text?: string; blob?: string };
    const isImage = isAttachable(resource.mimeType) && resource.blob !== undefined;
    return isImage ? image(resource.blob ?? '') : linked(resource.uri, resource);
  };
  const json = structuredContent ? [saved(said(JSON.stringify(structuredContent)), 8192)] : [];
  return joined([...content.map(block), ...json]);
};

/** openai/codex models.rs: blocks it knows become items, any other is sent as JSON. */
function codexItems(content: readonly Json[], knowsAudio: boolean): Seen {
  return joined(
    content.map((one) => {
      if (one.type === 'text') return textOf(one);
      if (one.type === 'image') return IMAGE;
      if (one.type === 'audio' && knowsAudio) return FILE;
      return said(JSON.stringify(one));
    }),
  );
}

function codexLimit(seen: Seen): Seen {
  return Buffer.byteLength(seen.text) <= 40_000 ? seen : { ...seen, text: seen.text.slice(0, 20_000), isCut: true };
}

const firstCodex: Replay = ({ content, structuredContent }) =>
  codexLimit(said(JSON.stringify(structuredContent ?? content)));

/** Without an image, the content array is one JSON text. */
const secondCodex: Replay = ({ content, structuredContent }) => {
  if (structuredContent) return codexLimit(said(JSON.stringify(structuredContent)));
  const hasImage = content.some(({ type }) => type === 'image');
  return codexLimit(hasImage ? codexItems(content, false) : said(JSON.stringify(content)));
};

/** What 0.171.0 sends: items of what it knows, but the JSON alone where there is one. */
const codex: Replay = ({ content, structuredContent }) =>
  codexLimit(structuredContent ? said(JSON.stringify(structuredContent)) : codexItems(content, true));

/** google-gemini/gemini-cli mcp-tool.ts and tool-executor.ts. */
const gemini: Replay = (result) => {
  const { content, isError } = result;
  if (isError) return said(JSON.stringify([{ functionResponse: { response: result } }]));
  const parts = content.map((one): Seen => {
    const { type } = one;
    if (type === 'text') return said(`<untrusted_context>\n${one.text}\n</untrusted_context>`);
    if (type === 'image') return IMAGE;
    // sound is stripped from a function's response
    if (type === 'audio') return said('[SYSTEM: Binary content stripped]');
    if (type === 'resource_link') return said(`Resource Link: ${one.title ?? one.name} at ${one.uri}`);
    const { text, blob } = resourceOf(one);
    return text ? said(String(text)) : blob ? FILE : NOTHING;
  });
  const [only] = parts;
  return parts.length === 1 && only ? saved(only, 40_000) : joined(parts);
};

/** aaif-goose/goose formats/openai.rs and large_response_handler.rs. */
const goose: Replay = ({ content }) =>
  joined(
    content.map((one) => {
      if (one.type === 'text') return saved(textOf(one), 200_000);
      if (one.type === 'image') return IMAGE;
      if (one.type !== 'resource') return NOTHING;
      const { text, blob } = resourceOf(one);
      const words = typeof text === 'string' ? text : Buffer.from(String(blob), 'base64').toString('utf8');
      return said(words.includes('\ufffd') ? '[Binary content]' : words);
    }),
  );

/** An embedded resource in opencode 1.18.33, and in Kilo CLI, which is made of it. */
function attached({ text, uri, mimeType }: Json): Seen {
  if (text) return said(String(text));
  if (isAttachable(mimeType)) return IMAGE;
  if (mimeType === 'application/pdf') return FILE;
  return said(`[Binary MCP resource omitted: ${uri} (${mimeType}) is not a supported attachment type]`);
}

/** anomalyco/opencode mcp/catalog.ts, session/prompt.ts and tool/truncate.ts. */
const opencode: Replay = ({ content, structuredContent, isError }) => {
  const limited = (seen: Seen) => {
    const isLong = Buffer.byteLength(seen.text) > 51_200 || seen.text.split('\n').length > 2000;
    return isLong ? { ...seen, text: seen.text.slice(0, 1000), isCut: true } : seen;
  };
  if (isError) return joined(content.filter(({ type }) => type === 'text').map(textOf));
  if (structuredContent) return limited(said(JSON.stringify(structuredContent)));
  return limited(
    joined(
      content.map((one) => {
        if (one.type === 'text') return textOf(one);
        if (one.type === 'image') return IMAGE;
        return one.type === 'resource' ? attached(resourceOf(one)) : NOTHING;
      }),
    ),
  );
};

/** What @kilocode/cli 7.7.9 sends; it resizes images by itself. */
const kilo: Replay = ({ content, isError }) => {
  if (isError) return joined(content.filter(({ type }) => type === 'text').map(textOf));
  const parts = content.map((one): Seen => {
    if (one.type === 'text') return textOf(one);
    if (one.type === 'image') return IMAGE;
    return one.type === 'resource' ? attached(resourceOf(one)) : NOTHING;
  });
  const seen = joined(parts);
  const isLong = Buffer.byteLength(seen.text) > 51_200 || seen.text.split('\n').length > 2000;
  return isLong ? { ...seen, text: '...', isCut: true } : seen;
};

/** What @github/copilot 1.0.102 sends to chat completions: texts without a break between them. */
const copilotCli: Replay = ({ content, structuredContent, isError }) => {
  const texts = content.map((one) => String(one.type === 'resource' ? (resourceOf(one).text ?? '') : (one.text ?? '')));
  const text = `${isError ? "MCP server 's': " : ''}${texts.join('')}`;
  const seen = said(structuredContent ? `${text}\n\n${JSON.stringify(structuredContent)}` : text);
  return saved(seen, 20_480, Buffer.byteLength(seen.text));
};

/** What mcporter 0.12.3 prints, without options. */
const mcporter: Replay = (result) => {
  const { content, structuredContent } = result;
  if (structuredContent) return said(JSON.stringify(structuredContent));
  const texts = content.flatMap((one) => {
    if (one.type === 'text') return [String(one.text)];
    if (one.type !== 'resource') return [];
    const { text, uri } = resourceOf(one);
    return [text ? String(text) : `[Binary resource: ${uri}]`];
  });
  return said(texts.length > 0 ? texts.join('\n') : JSON.stringify(result));
};

/** danny-avila/LibreChat parsers.ts. */
const librechat: Replay = ({ content, structuredContent }) => {
  if (content.length === 0) return said(JSON.stringify(structuredContent ?? '(No response)'));
  return joined(
    content.map((one) => {
      if (one.type === 'text') return textOf(one);
      if (one.type === 'image') return IMAGE;
      if (one.type !== 'resource') return said(JSON.stringify(one, null, 2));
      const { text, uri, mimeType } = resourceOf(one);
      return said([...(text ? [text] : []), uri, ...(mimeType ? [mimeType] : [])].join('\n'));
    }),
  );
};

/** open-webui/open-webui mcp/client.py and middleware.py: texts are parsed as JSON, images go to the page alone. */
const openWebui: Replay = ({ content, isError }) => {
  if (isError) return said(JSON.stringify(content));
  const texts = content.filter(({ type }) => type === 'text').map(({ text }) => parsed(String(text)));
  if (texts.length === 1 && typeof texts[0] === 'string') return said(texts[0]);
  return said(JSON.stringify(texts.length === 1 ? texts[0] : { results: texts }, null, 2));
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * langchain-ai/langchainjs tools.ts. The models of OpenAI and Anthropic throw for a file that has an address, and send nothing;
 * an embedded resource goes into the artifact.
 */
const langchain: Replay = ({ content, isError }) => {
  const texts = content.filter(({ type }) => type === 'text').map(textOf);
  if (isError) return joined(texts);
  if (content.some(({ type }) => type === 'resource_link')) return NOTHING;
  return joined([...texts, ...content.filter(({ type }) => type === 'image').map(() => IMAGE)]);
};

/** vercel/ai packages/mcp, mcpToModelOutput. */
const aiSdk: Replay = ({ content }) =>
  joined(
    content.map((one) => {
      if (one.type === 'text') return textOf(one);
      return one.type === 'image' ? IMAGE : said(JSON.stringify(one));
    }),
  );

/** What @openai/agents 0.20.0 sends: one block that it does not know makes one text of them all. */
const openaiAgents: Replay = ({ content }) => {
  const isKnown = content.every(({ type }) => type === 'text' || type === 'image');
  if (!isKnown) return said(JSON.stringify(content));
  return joined(content.map((one) => (one.type === 'text' ? textOf(one) : IMAGE)));
};

/** What @llamaindex/tools 0.1.12 sends. */
const llamaindex: Replay = (result) => said(JSON.stringify(result, null, 2));

/** mcp-use/mcp-use toolResultParts.ts. */
const mcpUse: Replay = ({ content, structuredContent, isError }) => {
  const parts = content.map((one): Seen => {
    if (one.type === 'text') return textOf(one);
    if (one.type === 'image') return IMAGE;
    if (one.type === 'resource_link') return said(`[resource_link "${one.name}": ${one.uri}]`);
    const { text, uri, mimeType } = resourceOf(one);
    return said(text ? String(text) : `[resource: ${uri} (${mimeType})]`);
  });
  return joined([
    ...(isError ? [said('[tool reported isError=true]')] : []),
    ...parts,
    ...(structuredContent ? [said(`structuredContent: ${JSON.stringify(structuredContent)}`)] : []),
  ]);
};

/** What @mastra/mcp 2.0.0 sends to chat completions of a tool without outputSchema. */
const mastra: Replay = (result) => {
  const { content, structuredContent, isError } = result;
  if (isError) return joined(content.filter(({ type }) => type === 'text').map(textOf));
  return said(JSON.stringify(structuredContent ?? result));
};

/** What cline 3.0.65 sends: the whole result, of which more than 8000 characters lose their middle. */
const cline: Replay = (result) => {
  const text = JSON.stringify(result);
  return text.length <= 8000 ? said(text) : { ...said(`${text.slice(0, 4000)}...${text.slice(-4000)}`), isCut: true };
};

/** @continuedev/cli src/tools/index.tsx. */
const continueCli: Replay = ({ content }) => said(JSON.stringify(content));

/** continuedev/continue core/tools/callTool.ts: what it does not know becomes an error of its own. */
const continueExtension: Replay = ({ content, isError }) => {
  if (isError) return said(JSON.stringify(content));
  return said(
    content
      .map((one) => {
        if (one.type === 'text') return String(one.text);
        const { text } = one.type === 'resource' ? resourceOf(one) : {};
        return text === undefined ? `Error: tool call received unsupported item of type "${one.type}"` : String(text);
      })
      .join('\n\n'),
  );
};

/** @genkit-ai/mcp lib/util/tools.js, processResult; its agent makes JSON of what is not text. */
const genkit: Replay = (result) => {
  const { content, structuredContent, isError } = result;
  const texts = content.map(({ type, text }) => (type === 'text' ? String(text) : '')).join('');
  if (isError) return said(JSON.stringify({ error: texts }));
  if (structuredContent) return said(JSON.stringify(structuredContent));
  if (content.every(({ type, text }) => type === 'text' && text)) return said(texts);
  return said(JSON.stringify(content.length === 1 ? content[0] : result));
};

/** A result as RooCodeInc/Roo-Code UseMcpToolTool.ts and cline/cline UseMcpToolHandler.ts write it. */
function rooText({ content, isError }: ToolResult): string {
  const parts = content.map((one) => {
    if (one.type === 'text') return String(one.text);
    if (one.type !== 'resource') return '';
    const { blob: _, ...rest } = resourceOf(one);
    return JSON.stringify(rest, null, 2);
  });
  return `${isError ? 'Error:\n' : ''}${parts.filter((part) => part !== '').join('\n\n') || '(No response)'}`;
}

const rooCode: Replay = (result) => said(rooText(result));

const clineExtension: Replay = (result) =>
  joined([said(rooText(result)), ...result.content.filter(({ type }) => type === 'image').map(() => IMAGE)]);

/** charmbracelet/crush tools.go: the first image, and any other block as Go prints it. */
const crush: Replay = ({ content }) => {
  const texts = content.flatMap((one) => {
    if (one.type === 'text') return [String(one.text)];
    if (one.type === 'image' || one.type === 'audio') return [];
    return [one.type === 'resource' ? '&{0xc000 map[] <nil>}' : `&{${one.uri} ${one.name}}`];
  });
  return joined([said(texts.join('\n')), ...(content.some(({ type }) => type === 'image') ? [IMAGE] : [])]);
};

/** zed-industries/zed context_server_registry.rs, before its types knew links. */
const zed: Replay = ({ content, isError }) => {
  if (content.some(({ type }) => type === 'resource_link')) return NOTHING;
  const texts = content.map(({ type, text }) => (type === 'text' ? String(text) : '')).join('');
  return isError
    ? said(texts)
    : joined([said(texts), ...content.filter(({ type }) => type === 'image').map(() => IMAGE)]);
};

/** What @qwen-code/qwen-code 0.24.4 sends. */
const qwenCode: Replay = (result) => {
  const { content, structuredContent, isError } = result;
  if (isError) return said(JSON.stringify({ response: { error: result } }));
  const parts = content.map((one): Seen => {
    const { type } = one;
    if (type === 'text') return textOf(one);
    if (type === 'image') return IMAGE;
    if (type === 'resource_link') return said(`Resource Link: ${one.title ?? one.name} at ${one.uri}`);
    if (type !== 'resource') return NOTHING;
    const { text, blob } = resourceOf(one);
    return text ? said(String(text)) : blob ? FILE : NOTHING;
  });
  const json = structuredContent ? [said(JSON.stringify(structuredContent))] : [];
  const seen = joined([...json, ...parts]);
  return saved(seen, 25_000, seen.text.split('\n').length > 1000 ? Number.POSITIVE_INFINITY : undefined);
};

/** By the name of the profile, for the hosts whose source is open. */
export const REPLAYS: Readonly<Record<string, Replay>> = {
  vscode,
  'codex-0.38': firstCodex,
  'codex-0.154': secondCodex,
  codex,
  'gemini-cli': gemini,
  goose,
  opencode,
  kilo,
  'copilot-cli': copilotCli,
  mcporter,
  librechat,
  'open-webui': openWebui,
  langchain,
  'ai-sdk': aiSdk,
  'openai-agents': openaiAgents,
  llamaindex,
  strands: aiSdk,
  mastra,
  'mcp-use-1': llamaindex,
  'mcp-use': mcpUse,
  'qwen-code': qwenCode,
  cline,
  'cline-extension': clineExtension,
  'roo-code': rooCode,
  crush,
  zed,
  'continue-cli': continueCli,
  continue: continueExtension,
  genkit,
};
