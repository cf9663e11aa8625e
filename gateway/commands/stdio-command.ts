import type { Command } from 'commander';
import type { LoadOptions, Overrides } from '../config/load.js';
import { adviceOnWords } from '../unknown-words.js';
import { addSources, type Sources, serversOf } from './sources.js';

/** Speak MCP on standard input and output, with one server. */
export interface StdioAction {
  kind: 'stdio';
  load: LoadOptions;
  /** The server to use, if the config has several. */
  server: string | undefined;
}

const STDIO_HELP = `Say which server to front on standard input and output:
  wharf stdio -- npx -y @modelcontextprotocol/server-filesystem /data
  wharf stdio --upstream https://mcp.example.com/mcp
  wharf stdio --config wharf.yaml [server]`;

/** Adds `wharf stdio`. @param words those behind `--` @param take gets what was asked for */
export function addStdioCommand(program: Command, words: readonly string[], take: (action: StdioAction) => void): void {
  const command = program
    .command('stdio')
    .description('front one server on standard input and output, for desktop hosts: wharf stdio -- COMMAND…')
    .usage('[options] (-c FILE [server] | -u URL | -- COMMAND…)')
    .argument('[server]', 'which of the servers in the config file');
  addSources(command, 'front')
    .option('--listen <host:port>', 'where links are served (127.0.0.1, on a port that the system chooses)')
    .option('--public-url <url>', 'how the links reach Wharf')
    .option('--log-level <level>', 'debug, info, warn or error (info); logs go to standard error')
    .action((server: string | undefined, options: Sources & Overrides) => {
      const { upstream, config, env, ...overrides } = options;
      if (server !== undefined && config === undefined) {
        const advice = adviceOnWords([server], [], 'wharf stdio');
        return program.error(`error: "${server}" names a server of a config file. ${advice}`);
      }
      // several hosts may each start one of these, whatever port the config names
      const sources = serversOf({ upstream, config, env }, words, program, STDIO_HELP);
      take({ kind: 'stdio', load: { ...sources, overrides: { listen: '127.0.0.1:0', ...overrides } }, server });
    });
}
