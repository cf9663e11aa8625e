import type { Command } from 'commander';
import { append } from './sources.js';

/** Find lines of audit logs that were changed, moved or taken out. */
export interface AuditVerifyAction {
  kind: 'audit-verify';
  /** Empty: those of the config. */
  files: string[];
  /** The config. */
  file: string | undefined;
  /** Known ones of the chain. */
  points: { seq: number; hash: string }[];
}

/** Adds `wharf audit verify`. @param take gets what was asked for */
export function addAuditCommand(program: Command, take: (action: AuditVerifyAction) => void): Command {
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
    .action((files: string[], { config: file, has = [] }: { config?: string; has?: string[] }, command: Command) => {
      if (files.length > 0 === (file !== undefined)) command.error('error: give either files or --config FILE');
      const points = has.map((text) => {
        const [, seq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
        return seq === undefined || hash === undefined
          ? command.error(`error: --has must be SEQ:HASH, and is ${JSON.stringify(text)}`)
          : { seq: Number(seq), hash };
      });
      take({ kind: 'audit-verify', files, file, points });
    });
  return audit;
}
