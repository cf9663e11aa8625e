import type { Command } from 'commander';
import type { LoadOptions } from '../config/load.js';
import { adviceOnWords } from '../unknown-words.js';
import { addSources, type Sources, serversOf } from './sources.js';

/** List servers' tools, and propose the config of those that take files. */
export interface InspectAction {
  kind: 'inspect';
  load: LoadOptions;
  /** Only this one of the config. */
  server: string | undefined;
}

const INSPECT_HELP = `Say which servers to ask:
  wharf inspect --config wharf.yaml [server]
  wharf inspect --upstream http://127.0.0.1:3001/mcp
  wharf inspect -- npx -y some-mcp-server`;

/** Adds `wharf inspect`. @param words those behind `--` @param take gets what was asked for */
export function addInspectCommand(
  program: Command,
  words: readonly string[],
  take: (action: InspectAction) => void,
): void {
  const inspect = program
    .command('inspect')
    .description("list each server's tools and propose the config of those that take files; exit 1 if a server fails")
    .usage('[options] (-c FILE [server] | -u URL | -- COMMAND…)')
    .argument('[server]', 'only this server of the config');
  addSources(inspect, 'ask')
    .addHelpText(
      'after',
      '\nEach answer of a server is waited for up to timeouts.queue (30s); then the next\nserver is asked.',
    )
    .action((server: string | undefined, options: Sources, command: Command) => {
      if (server !== undefined && options.config === undefined)
        command.error(`error: a server is chosen from a config file. ${adviceOnWords([server], [], 'wharf inspect')}`);
      take({ kind: 'inspect', load: serversOf(options, words, command, INSPECT_HELP), server });
    });
}
