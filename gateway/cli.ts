import { Command, CommanderError, Option } from 'commander';
import { addSources, append, type Sources, serversOf } from './cli-servers.js';
import type { LoadOptions, Overrides } from './config/load.js';
import { addFilesCommand, type FilesAction } from './control/files-command.js';
import { adviceOnCommand, adviceOnConfig, adviceOnHelp, adviceOnWords } from './unknown-words.js';

/** The action that the command line requests. */
export type Action =
  | { kind: 'run'; load: LoadOptions }
  | StdioAction
  | { kind: 'check'; file: string }
  | { kind: 'schema'; format: 'json' | 'markdown' }
  /** `port`: over HTTP instead of standard input and output. */
  | { kind: 'probe'; port: number | undefined }
  /** `code` undefined: the page about all errors. */
  | { kind: 'explain'; code: string | undefined }
  | ExplainClient
  | FilesAction
  | ExplainAccess
  /** `only`: groups of checks; empty for all. */
  | { kind: 'doctor'; load: LoadOptions; isJson: boolean; isOffline: boolean; only: string[] }
  /** `files` or those of the config `file`; `points`: known ones of the chain. */
  | { kind: 'audit-verify'; files: string[]; file: string | undefined; points: { seq: number; hash: string }[] }
  /** `server`: inspect only this one of the config. */
  | { kind: 'inspect'; load: LoadOptions; server: string | undefined }
  /** Help, the version or a usage error: the whole output is in `out` and `err`. */
  | { kind: 'done'; exitCode: number };

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

/** Speak MCP on standard input and output, with one server. */
export interface StdioAction {
  kind: 'stdio';
  load: LoadOptions;
  /** The server to use, if the config has several. */
  server: string | undefined;
}

/** An action with the text that parsing it produced. */
type Parsed = Action & { out: string; err: string };

const USAGE_ERROR = 2;
const MAX_PORT = 65_535;
const MISPLACED = ['commander.unknownOption', 'commander.excessArguments'];

const SHORT_HELP = `Wharf gives any MCP server real file transfer. Say which server to front:
  wharf --upstream http://127.0.0.1:3001/mcp
  wharf -- npx -y @modelcontextprotocol/server-filesystem /data
  wharf --config wharf.yaml
wharf --help explains the rest.`;

const STDIO_HELP = `Say which server to front on standard input and output:
  wharf stdio -- npx -y @modelcontextprotocol/server-filesystem /data
  wharf stdio --upstream https://mcp.example.com/mcp
  wharf stdio --config wharf.yaml [server]`;

const INSPECT_HELP = `Say which servers to ask:
  wharf inspect --config wharf.yaml [server]
  wharf inspect --upstream http://127.0.0.1:3001/mcp
  wharf inspect -- npx -y some-mcp-server`;

const DOCTOR_HELP = `Say which config or server to try:
  wharf doctor --config wharf.yaml
  wharf doctor --upstream http://127.0.0.1:3001/mcp
  wharf doctor -- npx -y some-mcp-server`;

const EXPLAIN_HELP = `
Examples:
  wharf explain upload_too_large
  wharf explain --client claude-code --version 2.1.280
      which known host this is, what it shows of results, what Wharf does about it, and where each fact is from
  wharf explain --client my-agent --config wharf.yaml
      the same with the clients: of a config
  wharf explain --config wharf.yaml --server hr --tool delete_user --key ci
      whether this caller may use the server and the tool, which rule decides, and which limits apply; --client adds
      those of its host

A client's name and version are in its initialize request, and in Wharf's log.`;

const EXAMPLES = `
Examples:
  wharf --upstream http://127.0.0.1:3001/mcp
      front one HTTP server (Streamable HTTP, else the older HTTP+SSE)
  wharf -- npx -y @modelcontextprotocol/server-filesystem /data
      front one stdio server; everything after -- is its command
  wharf --env API_KEY -- npx -y some-mcp-server
      with a variable that is set here; beside those the command gets HOME, LANG, PATH, TMPDIR and USER only
  wharf --config wharf.yaml
      front many; see "wharf schema" and CONFIG.md for every setting
  wharf --config claude_desktop_config.json
      the mcpServers file of a desktop host works as it is

  wharf stdio -- npx -y @modelcontextprotocol/server-filesystem /data
      the same on standard input and output, for desktop hosts that start their servers

Then paste the URL that Wharf prints into your MCP client. Big files in tool results arrive as links.
Without a config, files are kept for 24 hours in your state folder (~/.local/state/wharf) and Wharf
listens on 127.0.0.1:8080.
`;

/** Refuses an option that is given twice, unless it gathers its values: the first one would be lost without a word. */
function takeOnce(command: Command): void {
  for (const option of command.options) {
    const { required, optional, parseArg } = option;
    if (!(required || optional) || parseArg) continue;
    option.argParser((value: string) => {
      if (command.getOptionValueSource(option.attributeName()) === 'cli')
        command.error(`error: option '${option.flags}' can be given once`);
      return value;
    });
  }
  command.commands.forEach(takeOnce);
}

/**
 * Parses a command line. Prints nothing and does not exit.
 * @param argv the arguments after the program's name
 */
export function parseCommandLine(argv: readonly string[], version: string): Parsed {
  // Split by hand: a server's command may be called `check`, and its options are its own.
  const dashes = argv.indexOf('--');
  const command = dashes === -1 ? [] : argv.slice(dashes + 1);
  const own = dashes === -1 ? argv : argv.slice(0, dashes);

  let action: Action = { kind: 'done', exitCode: 0 };
  let out = '';
  let err = '';
  const program = new Command('wharf')
    .description('Gives any MCP server real file transfer: base64 leaves the message, the client gets a link.')
    .usage('[options] (--upstream URL | --config FILE | -- COMMAND…)')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print this help, or that of a command');
  addSources(program, 'front')
    .option('--listen <host:port>', 'where clients reach Wharf (127.0.0.1:8080)')
    .option('--admin-listen <host:port>', 'health and metrics (none on loopback; else 127.0.0.1:9090)')
    .option('--public-url <url>', 'how clients reach Wharf; links are made from it')
    .option('--log-level <level>', 'debug, info, warn or error (info); logs go to standard error')
    .addHelpText('after', EXAMPLES)
    .configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
    })
    .exitOverride()
    // An option after a sub-command's name belongs to the sub-command.
    .enablePositionalOptions()
    .allowExcessArguments(true)
    .showSuggestionAfterError()
    .action((options: RunOptions) => {
      action = run(options, command, program);
    });
  const overStdio = program
    .command('stdio')
    .description('front one server on standard input and output, for desktop hosts: wharf stdio -- COMMAND…')
    .usage('[options] (--config FILE [server] | --upstream URL | -- COMMAND…)')
    .argument('[server]', 'which of the servers in the config file');
  addSources(overStdio, 'front')
    .option('--listen <host:port>', 'where links are served (127.0.0.1, on a port that the system chooses)')
    .option('--public-url <url>', 'how the links reach Wharf')
    .option('--log-level <level>', 'debug, info, warn or error (info); logs go to standard error')
    .action((server: string | undefined, options: RunOptions) => {
      action = stdio(server, options, command, program);
    });
  program
    .command('check')
    .description('report every problem of a config at once; exit 1 if there is any')
    .requiredOption('-c, --config <file>', 'the config file')
    .action((options: { config: string }) => {
      action = { kind: 'check', file: options.config };
    });
  program
    .command('schema')
    .description('print the JSON Schema of the config, for editors')
    .addOption(new Option('--format <format>').choices(['json', 'markdown']).default('json'))
    .action((options: { format: 'json' | 'markdown' }) => {
      action = { kind: 'schema', format: options.format };
    });
  program
    .command('explain')
    .description('say why an error occurs and what to do about it; without a code, about all of them')
    .argument('[code]', 'the code of an error, such as upload_too_large')
    .option('--client <name>', 'instead: say what this client would get, by its clientInfo.name, or NAME@VERSION')
    .option('--version <version>', 'with --client: its clientInfo.version')
    .option('--server <name>', 'instead: say what a caller may use of this server of the config')
    .option('--tool <name>', 'with --server: this tool, by its own name or the one that clients know')
    .option('-c, --config <file>', 'the config whose clients:, or rules, count')
    .option('--principal <name>', 'the caller, as in auth.keys')
    .option('--key <name>', 'with --server: the name of its API key')
    .option('--group <name>', 'with --server: a group of the caller; may be repeated', append)
    .addHelpText('after', EXPLAIN_HELP)
    .action((code: string | undefined, options: ExplainOptions, sub) => {
      action = explain(code, options, sub);
    });
  const doctor = program
    .command('doctor')
    .description(
      'really try every part of a config: stores, antivirus, publicUrl, logins, servers; exit 1 if any fails',
    )
    .usage('[options] (--config FILE | --upstream URL | -- COMMAND…)');
  addSources(doctor, 'try')
    .option('--json', 'for programs')
    .option(
      '--only <group>',
      'only these checks: config, machine, objects, state, antivirus, publicUrl, auth, servers; may be repeated',
      append,
    )
    .option('--offline', 'look at the config and this machine alone')
    .action(({ json, offline, only = [], ...sources }: DoctorOptions, sub: Command) => {
      const load = serversOf(sources, command, sub, DOCTOR_HELP);
      action = { kind: 'doctor', load, isJson: json === true, isOffline: offline === true, only };
    });
  addFilesCommand(program, (files) => {
    action = files;
  });
  const audit = program.command('audit').description('look at audit logs');
  audit
    .command('verify')
    .description('find lines of audit logs that were changed, moved or taken out; exit 1 if there are any')
    .argument('[files...]', 'the files, in any order')
    .option('-c, --config <file>', 'instead: the files of `audit:` in this config')
    .option(
      '--has <seq:hash>',
      'a line that must be there, as an earlier run or the log names it; may be repeated',
      append,
    )
    .action((files: string[], { config: file, has = [] }: { config?: string; has?: string[] }, sub: Command) => {
      if (files.length > 0 === (file !== undefined)) sub.error('error: give either files or --config FILE');
      const points = has.map((text) => {
        const [, seq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
        return seq === undefined || hash === undefined
          ? sub.error(`error: --has must be SEQ:HASH, and is ${JSON.stringify(text)}`)
          : { seq: Number(seq), hash };
      });
      action = { kind: 'audit-verify', files, file, points };
    });
  program
    .command('probe')
    .description('be an MCP server of marked results, and tell what of them a host shows to its model')
    .option(
      '--http <port>',
      'serve Streamable HTTP on this port of 127.0.0.1 (0: a free one), instead of standard input and output',
    )
    .action(({ http }: { http?: string }, sub: Command) => {
      const port = http === undefined ? undefined : Number(http);
      if (port !== undefined && !(/^\d+$/.test(http ?? '') && port <= MAX_PORT))
        sub.error('error: --http must be a port');
      action = { kind: 'probe', port };
    });
  const inspect = program
    .command('inspect')
    .description("list each server's tools and propose the config of those that take files; exit 1 if a server fails")
    .usage('[options] (--config FILE [server] | --upstream URL | -- COMMAND…)')
    .argument('[server]', 'only this server of the config');
  addSources(inspect, 'ask')
    .addHelpText(
      'after',
      '\nEach answer of a server is waited for up to timeouts.queue (30s); then the next server is asked.',
    )
    .action((server: string | undefined, options: Sources, sub: Command) => {
      if (server !== undefined && options.config === undefined)
        sub.error(`error: a server is chosen from a config file. ${adviceOnWords([server], [], 'wharf inspect')}`);
      action = { kind: 'inspect', load: serversOf(options, command, sub, INSPECT_HELP), server };
    });
  // A sub-command inherits how its parent exits and prints only if told so.
  for (const sub of [...program.commands, ...audit.commands])
    sub.copyInheritedSettings(program).allowExcessArguments(false);

  try {
    takeOnce(program);
    program.parse([...own], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.missingMandatoryOptionValue') err += adviceOnConfig(own);
    else if (MISPLACED.includes(error.code)) err += adviceOnCommand(own);
    else if (error.code === 'commander.help' && own[0] === 'help')
      err =
        adviceOnHelp(
          own[1],
          program.commands.map((sub) => sub.name()),
        ) ?? err;
    action = { kind: 'done', exitCode: error.exitCode === 0 ? 0 : USAGE_ERROR };
  }
  return { ...(action as Action), out, err };
}

interface DoctorOptions extends Sources {
  json?: true;
  offline?: true;
  only?: string[];
}

interface ExplainOptions {
  client?: string;
  version?: string;
  config?: string;
  principal?: string;
  server?: string;
  tool?: string;
  key?: string;
  group?: string[];
}

function explain(code: string | undefined, options: ExplainOptions, sub: Command): Action {
  const { client: name, version, config: file, principal, server, tool, key, group: groups = [] } = options;
  if (version !== undefined && name === undefined) {
    return sub.error('error: --version is about a client: add --client NAME');
  }
  const client = version === undefined ? name : `${name}@${version}`;
  if (server !== undefined) {
    if (code !== undefined) return sub.error('error: give only one of a code and --server');
    if (file === undefined) return sub.error('error: --server is a server of a config: add --config FILE');
    return { kind: 'explain-access', file, server, tool, principal, key, groups, client };
  }
  if (tool !== undefined || key !== undefined || groups.length > 0) {
    return sub.error('error: --tool, --key and --group are about a server: add --server NAME');
  }
  if (client === undefined) {
    if (file !== undefined || principal !== undefined) {
      return sub.error(
        'error: --config and --principal are about a client or a server: add --client NAME or --server NAME',
      );
    }
    return { kind: 'explain', code };
  }
  if (code !== undefined) return sub.error('error: give either the code of an error or --client NAME');
  return { kind: 'explain-client', client, file, principal };
}

interface RunOptions extends Overrides, Sources {}

function run(options: RunOptions, command: string[], program: Command): Action {
  const { upstream, config, env, ...overrides } = options;
  const stray = program.args[0];
  if (stray !== undefined) {
    const known = program.commands.map((sub) => sub.name());
    return program.error(`error: unknown command "${stray}". ${adviceOnWords(program.args, known)}`);
  }
  return { kind: 'run', load: { ...serversOf({ upstream, config, env }, command, program, SHORT_HELP), overrides } };
}

function stdio(server: string | undefined, options: RunOptions, command: string[], program: Command): Action {
  const { upstream, config, env, ...overrides } = options;
  if (server !== undefined && config === undefined) {
    const advice = adviceOnWords([server], [], 'wharf stdio');
    return program.error(`error: "${server}" names a server of a config file. ${advice}`);
  }
  // several hosts may each start one of these, whatever port the config names
  const sources = serversOf({ upstream, config, env }, command, program, STDIO_HELP);
  return { kind: 'stdio', load: { ...sources, overrides: { listen: '127.0.0.1:0', ...overrides } }, server };
}
