import type { Command } from 'commander';
import type { LoadOptions } from '../config/load.js';
import { addSources, append, type Sources, serversOf } from './sources.js';

/** Really try the parts of a config. */
export interface DoctorAction {
  kind: 'doctor';
  load: LoadOptions;
  isJson: boolean;
  isOffline: boolean;
  /** Groups of checks; empty for all. */
  only: string[];
}

interface Options extends Sources {
  json?: true;
  offline?: true;
  only?: string[];
}

const DOCTOR_HELP = `Say which config or server to try:
  wharf doctor --config wharf.yaml
  wharf doctor --upstream http://127.0.0.1:3001/mcp
  wharf doctor -- npx -y some-mcp-server`;

/** Adds `wharf doctor`. @param words those behind `--` @param take gets what was asked for */
export function addDoctorCommand(
  program: Command,
  words: readonly string[],
  take: (action: DoctorAction) => void,
): void {
  const doctor = program
    .command('doctor')
    .description(
      'really try every part of a config: stores, antivirus, telemetry, publicUrl, logins, servers; exit 1 if any fails',
    )
    .usage('[options] (--config FILE | --upstream URL | -- COMMAND…)');
  addSources(doctor, 'try')
    .option('--json', 'for programs')
    .option(
      '--only <group>',
      'only these checks: config, machine, objects, state, antivirus, telemetry, publicUrl, auth, servers; may be repeated',
      append,
    )
    .option('--offline', 'look at the config and this machine alone')
    .action(({ json, offline, only = [], ...sources }: Options, command: Command) => {
      const load = serversOf(sources, words, command, DOCTOR_HELP);
      take({ kind: 'doctor', load, isJson: json === true, isOffline: offline === true, only });
    });
}
