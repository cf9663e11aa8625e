import { Command, CommanderError, Option } from 'commander';
import { type AuditVerifyAction, addAuditCommand } from './commands/audit-command.js';
import { addDoctorCommand, type DoctorAction } from './commands/doctor-command.js';
import { addExplainCommand, type ExplainAction } from './commands/explain-command.js';
import { addInspectCommand, type InspectAction } from './commands/inspect-command.js';
import { addProbeCommand, type ProbeAction } from './commands/probe-command.js';
import { addSources, type Sources, serversOf } from './commands/sources.js';
import { addStdioCommand, type StdioAction } from './commands/stdio-command.js';
import type { LoadOptions, Overrides } from './config/load.js';
import { addFilesCommand, type FilesAction } from './control/files-command.js';
import { INHERITED_WORDS } from './inherited-env.js';
import { adviceOnCommand, adviceOnConfig, adviceOnHelp, adviceOnWords } from './unknown-words.js';

/** The action that the command line requests. */
type Action =
  | RunAction
  | StdioAction
  | CheckAction
  | SchemaAction
  | ProbeAction
  | ExplainAction
  | FilesAction
  | DoctorAction
  | AuditVerifyAction
  | InspectAction
  /** Help, the version or a usage error: the whole output is in `out` and `err`. */
  | { kind: 'done'; exitCode: number };

/** Front the servers over HTTP. */
interface RunAction {
  kind: 'run';
  load: LoadOptions;
}

interface CheckAction {
  kind: 'check';
  file: string;
}

interface SchemaAction {
  kind: 'schema';
  format: 'json' | 'markdown';
}

/** An action with the text that parsing it produced. */
type Parsed = Action & { out: string; err: string };

const USAGE_ERROR = 2;
const MISPLACED = ['commander.unknownOption', 'commander.excessArguments'];

const SHORT_HELP = `Wharf gives any MCP server real file transfer. Say which server to front:
  wharf --upstream http://127.0.0.1:3001/mcp
  wharf -- npx -y @modelcontextprotocol/server-filesystem /data
  wharf --config wharf.yaml
wharf --help explains the rest.`;

const EXAMPLES = `
Examples:
  wharf --upstream http://127.0.0.1:3001/mcp
      front one HTTP server (Streamable HTTP, else the older HTTP+SSE)
  wharf -- npx -y @modelcontextprotocol/server-filesystem /data
      front one stdio server; everything after -- is its command
  wharf --env API_KEY -- npx -y some-mcp-server
      with a variable that is set here; beside those the command gets only
      ${INHERITED_WORDS}
  wharf --config wharf.yaml
      front many; see "wharf schema" and CONFIG.md for every setting
  wharf --config claude_desktop_config.json
      the mcpServers file of a desktop host works as it is

  wharf stdio -- npx -y @modelcontextprotocol/server-filesystem /data
      the same on standard input and output, for desktop hosts that start
      their servers

Then paste the URL that Wharf prints into your MCP client. Big files in tool
results arrive as links. Without a config, files are kept for 24 hours in your
state folder (~/.local/state/wharf) and Wharf listens on 127.0.0.1:8080.
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
  const behind = dashes === -1 ? [] : argv.slice(dashes + 1);
  // no program is called so: a launcher that may remove one, such as the MCP Inspector, is given two
  const first = behind.findIndex((word) => word !== '--');
  const words = first === -1 ? [] : behind.slice(first);
  const own = dashes === -1 ? argv : argv.slice(0, dashes);

  let action: Action = { kind: 'done', exitCode: 0 };
  const take = (requested: Action) => {
    action = requested;
  };
  let out = '';
  let err = '';
  const program = new Command('wharf')
    .exitOverride()
    // An option after a sub-command's name belongs to the sub-command.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
    });
  describe(program, version, words, take);
  addStdioCommand(program, words, take);
  addCheckCommand(program, take);
  addSchemaCommand(program, take);
  addExplainCommand(program, take);
  addDoctorCommand(program, words, take);
  addFilesCommand(program, take);
  const audit = addAuditCommand(program, take);
  addProbeCommand(program, take);
  addInspectCommand(program, words, take);
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
    else if (error.code === 'commander.help' && own[0] === 'help') err = adviceOnHelp(own[1], namesOf(program)) ?? err;
    action = { kind: 'done', exitCode: error.exitCode === 0 ? 0 : USAGE_ERROR };
  }
  return { ...(action as Action), out, err };
}

/** The program without a sub-command: it fronts servers over HTTP. */
function describe(
  program: Command,
  version: string,
  words: readonly string[],
  take: (action: RunAction) => void,
): void {
  program
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
    .allowExcessArguments(true)
    .action(({ upstream, config, env, ...overrides }: Sources & Overrides) => {
      if (program.args[0] !== undefined) {
        const advice = adviceOnWords(program.args, namesOf(program));
        return program.error(`error: unknown command "${program.args[0]}". ${advice}`);
      }
      const sources = serversOf({ upstream, config, env }, words, program, SHORT_HELP);
      take({ kind: 'run', load: { ...sources, overrides } });
    });
}

function namesOf({ commands }: Command): string[] {
  return commands.map((command) => command.name());
}

function addCheckCommand(program: Command, take: (action: CheckAction) => void): void {
  program
    .command('check')
    .description('report every problem of a config at once; exit 1 if there is any')
    .requiredOption('-c, --config <file>', 'the config file')
    .action(({ config: file }: { config: string }) => take({ kind: 'check', file }));
}

function addSchemaCommand(program: Command, take: (action: SchemaAction) => void): void {
  program
    .command('schema')
    .description('print the JSON Schema of the config, for editors')
    .addOption(new Option('--format <format>').choices(['json', 'markdown']).default('json'))
    .action(({ format }: Pick<SchemaAction, 'format'>) => take({ kind: 'schema', format }));
}
