import type { Command } from 'commander';
import type { LoadOptions } from '../config/load.js';
import { nameOfCommand, nameOfUrl } from '../config/server-name.js';
import { whyNoVariables } from '../unknown-words.js';

/** What a command line says of the servers to front: exactly one of a config, a URL, and a command behind `--`. */
export interface Sources {
  upstream?: string | undefined;
  config?: string | undefined;
  /** Names of variables for the command. */
  env?: string[] | undefined;
}

/** Adds the options of each command that fronts, or asks, servers. */
export function addSources(command: Command, verb: 'front' | 'ask' | 'try'): Command {
  const read =
    verb === 'front' ? 'read a config file' : verb === 'ask' ? 'ask the servers of a config file' : 'try a config file';
  return command
    .option('-u, --upstream <url>', `${verb} the MCP server at this URL`)
    .option('-c, --config <file>', `${read} (YAML, or the mcpServers JSON of desktop hosts)`)
    .option('--env <name>', 'a variable of the environment that COMMAND needs; may be repeated', append);
}

/** For an option that may be repeated. */
export function append(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/**
 * The servers that a command line names; an error of `line` otherwise.
 * @param command the words behind `--`
 * @param help what is said where no server is named
 */
export function serversOf(
  { upstream, config, env = [] }: Sources,
  command: readonly string[],
  line: Command,
  help: string,
): LoadOptions {
  const given = [upstream, config, command[0]].filter((source) => source !== undefined);
  if (given.length === 0) return line.error(help);
  if (given.length > 1) return line.error('error: give only one of --upstream URL, --config FILE and -- COMMAND…');
  const wrong = whyNoVariables(env, command);
  if (wrong !== undefined) return line.error(`error: ${wrong}`);
  if (config !== undefined) return { file: config };
  if (upstream !== undefined) return { servers: { [nameOfUrl(upstream)]: { url: upstream } } };
  // the config's own syntax for variables, so that a missing one is reported like any other problem
  const variables = Object.fromEntries(env.map((name) => [name, `\${${name}}`]));
  return { servers: { [nameOfCommand(command)]: { command, ...(env.length > 0 && { env: variables }) } } };
}
