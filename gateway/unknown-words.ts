import { nearest } from './config/mistakes/nearest.js';
import { RUNNERS } from './config/server-name.js';

/** Words of a command line that Wharf does not know, and what to write instead. */

/** As a config's `${NAME}` may be called. */
const VARIABLE = /^[A-Za-z_]\w*$/;

/**
 * @param words the arguments that are left, of which the first is not in `known`
 * @param command the line before them
 */
export function adviceOnWords(words: readonly string[], known: readonly string[], command = 'wharf'): string {
  const [first = ''] = words;
  const near = nearest(first, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  if (/^https?:\/\//i.test(first)) return `Put --upstream before a server's URL: ${command} --upstream ${first}`;
  if (/\.(?:ya?ml|json)$/i.test(first)) return `Put --config before a config file: ${command} --config ${first}`;
  return `Put -- before a server's command: ${command} -- ${words.join(' ')}`;
}

/** For a command that lacks its `--config`: what stands in its place, if anything does. */
export function adviceOnConfig([command, word]: readonly string[]): string {
  if (word === undefined) return `Name the file: wharf ${command} --config wharf.yaml\n`;
  if (!word.startsWith('-')) return `Put --config before the file: wharf ${command} --config ${word}\n`;
  return word !== '--config' && nearest(word, ['--config']) !== undefined ? '(Did you mean --config?)\n' : '';
}

/** For `wharf help WORD`; undefined if there is help about it. */
export function adviceOnHelp(word: string | undefined, known: readonly string[]): string | undefined {
  if (word === undefined || known.includes(word)) return undefined;
  const near = nearest(word, known);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  return `error: unknown command "${word}".${meant}\nUsage: wharf help COMMAND; wharf --help lists them.\n`;
}

/** Sub-commands that may name a server by its URL or by its command, behind `--`. */
const IN_FRONT = ['stdio', 'inspect', 'doctor'];

/** Their options that have no value. */
const FLAGS = ['--json', '--offline'];

/** After these, what follows is not a server's command. */
const NAME_SERVERS = /^(?:-[cu]|--config|--upstream)/;

/** For a line whose options, or number of words, fit no command of Wharf's: perhaps they are those of a server's command. */
export function adviceOnCommand(line: readonly string[]): string {
  const own = IN_FRONT.includes(line[0] ?? '') ? 1 : 0;
  let at = own;
  for (let option = line[at]; option?.startsWith('-'); option = line[at]) {
    if (NAME_SERVERS.test(option)) return '';
    at += option.includes('=') || FLAGS.includes(option) ? 1 : 2;
  }
  const [first = ''] = line.slice(at);
  if (first === '' || (own === 0 && !RUNNERS.test(first))) return '';
  return `${adviceOnWords(line.slice(at), [], ['wharf', ...line.slice(0, at)].join(' '))}\n`;
}

/** Why `--env` cannot mean these: other programs take `NAME=VALUE` there, which would stand in every list of processes. */
export function whyNoVariables(names: readonly string[], command: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  if (command.length === 0) return '--env is for the command of a server: wharf --env NAME -- COMMAND…';
  const odd = names.find((name) => !VARIABLE.test(name));
  if (odd === undefined) return undefined;
  const [name = ''] = odd.split('=');
  const example = VARIABLE.test(name) ? name : 'NAME';
  return `--env takes the name of a variable that is set here, without a value: --env ${example}`;
}
