import type { AdapterDeps, AdapterList } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { causesOf, linesOf } from '../errors/causes.js';
import { GatewayError } from '../errors.js';
import { INHERITED_WORDS } from '../inherited-env.js';
import { countText } from '../policy/amounts.js';
import type { FileArgument } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import type { OAuth } from '../ports/oauth.js';
import { redactText } from '../redact.js';
import { propose, type ToolProposals } from './propose.js';
import { type Inspected, inspectReport } from './report.js';
import { isForPersons, toolsWithToken } from './with-token.js';
import { commentText } from './yaml.js';

interface InspectOptions {
  servers: readonly ServerConfig[];
  /** Whether the servers come from the command line instead of a config. */
  isWhole: boolean;
  adapters: AdapterList;
  deps: AdapterDeps;
  /** Progress messages for people. */
  progress(text: string): void;
  signal: AbortSignal;
}

/**
 * Asks every server for its tools and reports which of their arguments are files. A failing server does not stop the
 * others.
 */
export async function inspect(options: InspectOptions): Promise<{ report: string; hasFailed: boolean }> {
  const inspected: Inspected[] = [];
  let oauth: Promise<OAuth> | undefined;
  const openOAuth = () => {
    oauth ??= options.adapters.oauth.jose.create({}, options.deps);
    return oauth;
  };
  try {
    for (const server of options.servers) {
      if (options.signal.aborted) break;
      inspected.push(await inspectServer(server, options, openOAuth));
    }
  } finally {
    await (await oauth)?.close();
  }
  return {
    report: inspectReport(inspected, options.isWhole),
    hasFailed: options.signal.aborted || inspected.some(({ failure }) => failure !== undefined),
  };
}

async function inspectServer(
  server: ServerConfig,
  options: InspectOptions,
  openOAuth: () => Promise<OAuth>,
): Promise<Inspected> {
  const { adapters, deps, progress, signal } = options;
  const tools: ToolProposals[] = [];
  progress(`${server.name}: asking for its tools (${server.transport}) …\n`);
  try {
    const own = { ...deps, limits: server.limits, log: deps.log.child({ server: server.name }), name: server.name };
    for await (const page of toolsWithToken(server, openOAuth, { adapters, deps: own, signal })) {
      for (const tool of page) tools.push(propose(tool, adapters.dialects, configuredOf(tool, server)));
    }
  } catch (error) {
    const failure = isForPersons(error, server)
      ? 'It answers, and shows its tools to callers who have logged in, which this command cannot.'
      : `${textOf(error)}${adviceOn(error, server)}`;
    progress(`${server.name}: ${failure}\n`);
    return { server, tools, failure };
  }
  const found = tools.reduce((sum, { proposals }) => sum + proposals.length, 0);
  progress(`${server.name}: ${countText(tools.length, 'tool')}, ${countText(found, 'argument')} that may be a file\n`);
  return { server, tools };
}

function configuredOf({ name }: JsonObject, { tools }: ServerConfig): readonly FileArgument[] {
  return (typeof name === 'string' ? tools[name]?.files : undefined) ?? [];
}

/** Advice for a server that does not answer. */
function adviceOn(error: unknown, { transport }: ServerConfig): string {
  if (!(error instanceof GatewayError) || error.code !== 'upstream_timeout') return '';
  const look =
    transport === 'stdio'
      ? `Run its command by itself: under Wharf it has only ${INHERITED_WORDS}, and what --env or "env" names`
      : 'Look whether an MCP server runs at its URL';
  return ` ${look}; if it only needs longer, raise ${error.facts.limit} in a config.`;
}

/** The error and its causes, in one line. */
function textOf(error: unknown): string {
  const texts = linesOf(causesOf(error)).map((text) => commentText(redactText(text)));
  return texts.join(' Because: ') || 'unknown error';
}
