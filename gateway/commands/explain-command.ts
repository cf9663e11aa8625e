import { type Command, Option } from 'commander';
import { append } from './sources.js';

/** Say why an error occurs, or what a client, or a caller, would get. */
export type ExplainAction = ExplainErrors | ExplainClient | ExplainAccess;

/** Say why an error occurs. */
export interface ExplainErrors {
  kind: 'explain';
  /** Undefined: all of them. */
  code: string | undefined;
  /** `markdown`: the page of the documentation about all of them. */
  format: 'text' | 'markdown';
}

/** Say what a client would get. */
export interface ExplainClient {
  kind: 'explain-client';
  /** NAME, or NAME@VERSION. */
  client: string;
  /** The config whose `clients:` count. */
  file: string | undefined;
  principal: string | undefined;
}

/** Say what a caller may use. */
export interface ExplainAccess {
  kind: 'explain-access';
  file: string;
  server: string;
  tool: string | undefined;
  principal: string | undefined;
  key: string | undefined;
  groups: readonly string[];
  /** NAME, or NAME@VERSION, of its client. */
  client: string | undefined;
}

const EXPLAIN_HELP = `
Examples:
  wharf explain upload_too_large
  wharf explain --client claude-code --version 2.1.280
      which known host this is, what it shows of results, what Wharf does about
      it, and where each fact is from
  wharf explain --client my-agent --config wharf.yaml
      the same with the clients: of a config
  wharf explain --config wharf.yaml --server hr --tool delete_user --key ci
      whether this caller may use the server and the tool, which rule decides,
      and which limits apply; --client adds those of its host

A client's name and version are in its initialize request, and in Wharf's log.`;

interface ExplainOptions {
  format: 'text' | 'markdown';
  client?: string;
  version?: string;
  config?: string;
  principal?: string;
  server?: string;
  tool?: string;
  key?: string;
  group?: string[];
}

/** Adds `wharf explain`. @param take gets what was asked for */
export function addExplainCommand(program: Command, take: (action: ExplainAction) => void): void {
  program
    .command('explain')
    .description('say why an error occurs and what to do about it; without a code, list all of them')
    .argument('[code]', 'the code of an error, such as upload_too_large')
    .addOption(new Option('--format <format>', 'of all errors').choices(['text', 'markdown']).default('text'))
    .option('--client <name>', 'instead: say what this client would get, by its clientInfo.name, or NAME@VERSION')
    .option('--version <version>', 'with --client: its clientInfo.version')
    .option('--server <name>', 'instead: say what a caller may use of this server of the config')
    .option('--tool <name>', 'with --server: this tool, by its own name or the one that clients know')
    .option('-c, --config <file>', 'the config whose clients:, or rules, count')
    .option('--principal <name>', 'the caller, as in auth.keys')
    .option('--key <name>', 'with --server: the name of its API key')
    .option('--group <name>', 'with --server: a group of the caller; may be repeated', append)
    .addHelpText('after', EXPLAIN_HELP)
    .action((code: string | undefined, options: ExplainOptions, command: Command) => {
      take(explain(code, options, command));
    });
}

function explain(code: string | undefined, options: ExplainOptions, command: Command): ExplainAction {
  const { format, client: name, version, config: file, principal, server, tool, key, group: groups = [] } = options;
  if (version !== undefined && name === undefined) {
    return command.error('error: --version is about a client: add --client NAME');
  }
  const client = version === undefined ? name : `${name}@${version}`;
  if (server !== undefined) {
    if (code !== undefined) return command.error('error: give only one of a code and --server');
    if (file === undefined) return command.error('error: --server is a server of a config: add --config FILE');
    return { kind: 'explain-access', file, server, tool, principal, key, groups, client };
  }
  if (tool !== undefined || key !== undefined || groups.length > 0) {
    return command.error('error: --tool, --key and --group are about a server: add --server NAME');
  }
  if (client === undefined) {
    if (file !== undefined || principal !== undefined) {
      return command.error(
        'error: --config and --principal are about a client or a server: add --client NAME or --server NAME',
      );
    }
    if (code !== undefined && format === 'markdown')
      return command.error('error: --format markdown is the page about all errors: leave the code out');
    return { kind: 'explain', code, format };
  }
  if (code !== undefined) return command.error('error: give either the code of an error or --client NAME');
  return { kind: 'explain-client', client, file, principal };
}
