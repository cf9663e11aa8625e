import { nearest } from './config/problems.js';

/** Words of a command line that Wharf does not know, and what to write instead. */

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

/** For a command that lacks its `--config`: the word that stands in its place. */
export function adviceOnConfig([command, word]: readonly string[]): string {
  if (word === undefined) return '';
  if (!word.startsWith('-')) return `Put --config before the file: wharf ${command} --config ${word}\n`;
  return word !== '--config' && nearest(word, ['--config']) !== undefined ? '(Did you mean --config?)\n' : '';
}
