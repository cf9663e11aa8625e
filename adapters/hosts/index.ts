import type { HostProfile } from '../../gateway/ports/host.js';
import { profiles as chatgpt } from './chatgpt.js';
import { profiles as claudeCode } from './claude-code.js';
import { profiles as claudeDesktop } from './claude-desktop.js';
import { profiles as cline } from './cline.js';
import { profiles as codex } from './codex.js';
import { profiles as continueCli } from './continue-cli.js';
import { profiles as copilotCli } from './copilot-cli.js';
import { profiles as crush } from './crush.js';
import { profiles as cursor } from './cursor.js';
import { profiles as geminiCli } from './gemini-cli.js';
import { profiles as goose } from './goose.js';
import { profiles as kilo } from './kilo.js';
import { profiles as aiSdk } from './libraries/ai-sdk.js';
import { profiles as genkit } from './libraries/genkit.js';
import { profiles as langchain } from './libraries/langchain.js';
import { profiles as llamaindex } from './libraries/llamaindex.js';
import { profiles as mastra } from './libraries/mastra.js';
import { profiles as mcpUse } from './libraries/mcp-use.js';
import { profiles as openaiAgents } from './libraries/openai-agents.js';
import { profiles as strands } from './libraries/strands.js';
import { profiles as librechat } from './librechat.js';
import { profiles as mcporter } from './mcporter.js';
import { profiles as openWebui } from './open-webui.js';
import { profiles as opencode } from './opencode.js';
import { profiles as qwenCode } from './qwen-code.js';
import { profiles as rooCode } from './roo-code.js';
import { profiles as vscode } from './vscode.js';
import { profiles as zed } from './zed.js';

/** Every known host; of one with generations, each before the next newer one. */
export const hosts: readonly HostProfile[] = [
  ...claudeCode,
  ...claudeDesktop,
  ...codex,
  ...copilotCli,
  ...vscode,
  ...cursor,
  ...geminiCli,
  ...qwenCode,
  ...goose,
  ...opencode,
  ...kilo,
  ...cline,
  ...rooCode,
  ...continueCli,
  ...crush,
  ...zed,
  ...mcporter,
  ...chatgpt,
  ...librechat,
  ...openWebui,
  ...langchain,
  ...aiSdk,
  ...openaiAgents,
  ...llamaindex,
  ...strands,
  ...mastra,
  ...mcpUse,
  ...genkit,
];
