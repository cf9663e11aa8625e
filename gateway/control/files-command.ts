import type { Command } from 'commander';
import { nearest } from '../config/mistakes/nearest.js';
import { digestIn } from '../files/control/digest-text.js';
import { parseTime } from '../policy/units.js';

const WHAT = ['list', 'show', 'revoke', 'remove', 'hold', 'release'] as const;
type FilesVerb = (typeof WHAT)[number];

/** Look at stored files, or change them, by the admin port of a running gateway. */
export interface FilesAction {
  kind: 'files';
  verb: FilesVerb;
  ids: string[];
  /** URL of the admin port, or the config that names it. */
  from: { admin: string } | { file: string };
  /** Query of a list. */
  filter: Record<string, string>;
  isJson: boolean;
}

interface Options {
  admin?: string;
  config?: string;
  principal?: string;
  server?: string;
  digest?: string;
  olderThan?: string;
  limit?: string;
  json?: true;
}

/** The most that one answer of the admin port lists, and what a list has where nothing else is asked for. */
export const MOST_LISTED = 1000;
export const USUAL_LISTED = 100;

const HELP = `
Examples:
  wharf files list --config wharf.yaml --principal ann --older-than 7d
  wharf files show --config wharf.yaml f_3q2…
  wharf files revoke --config wharf.yaml f_3q2…
      no link of Wharf's and no handle leads to it then, on any replica; a
      presigned link that was given out works until links.ttl
  wharf files remove --config wharf.yaml f_3q2…
      the bytes too, so that presigned links end as well
  wharf files remove --config wharf.yaml --principal ann
      everything of a person who leaves
  wharf files hold --config wharf.yaml f_3q2…
      it is neither swept nor removed until: wharf files release

The gateway must be running and have an admin port; files are managed only from
its own machine or container.`;

function adviceOnVerb(what: string | undefined): string {
  if (what === undefined)
    return `Say which of these to do:\n${WHAT.map((one) => `  wharf files ${one} --config wharf.yaml${one === 'list' ? '' : ' ID…'}`).join('\n')}`;
  const near = nearest(what, WHAT);
  return `error: ${JSON.stringify(what)} must be one of: ${WHAT.join(', ')}${near === undefined ? '' : `. Did you mean ${near}?`}`;
}

/** Adds `wharf files`. @param take gets what was asked for */
export function addFilesCommand(program: Command, take: (action: FilesAction) => void): Command {
  return program
    .command('files')
    .description('list, show, revoke, remove, hold or release stored files of a running gateway')
    .argument('[what]', WHAT.join(', '))
    .argument('[ids...]', 'ids of files, from a list or a handle')
    .option('-c, --config <file>', 'the config of the gateway, whose adminListen is used')
    .option('--admin <url>', 'instead: the URL of its admin port')
    .option('--principal <name>', 'list: only files of this caller; remove: all of them')
    .option('--server <name>', 'list: only files that this server has given; "" for uploads')
    .option('--digest <sha256>', 'list: only these bytes; as sha256sum prints it, or in base64url')
    .option('--older-than <time>', 'list: only files stored longer ago than 30m, 24h, 7d')
    .option('--limit <number>', `list: at most so many (default ${USUAL_LISTED})`)
    .option('--json', 'for programs')
    .addHelpText('after', HELP)
    .action((what: string | undefined, given: string[], options: Options, sub: Command) => {
      const { admin, config: file, principal, server, digest, olderThan, limit, json } = options;
      const verb = WHAT.find((one) => one === what) ?? sub.error(adviceOnVerb(what));
      if (admin !== undefined && file !== undefined) sub.error('error: give only one of --config FILE and --admin URL');
      const from = admin !== undefined ? { admin } : file !== undefined ? { file } : undefined;
      if (!from) return sub.error('error: say which gateway: --config FILE or --admin URL');
      const age = olderThan === undefined ? undefined : parseTime(olderThan);
      if (olderThan !== undefined && age === undefined) sub.error('error: --older-than must be a time: 30m, 24h, 7d');
      if (limit !== undefined && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MOST_LISTED))
        sub.error(`error: --limit must be a number from 1 to ${MOST_LISTED}`);
      if (digest !== undefined && digestIn(digest) === undefined)
        sub.error(
          'error: --digest must be a SHA-256 in base64url, as wharf files show has it, or in hex, as sha256sum prints it',
        );
      const before = age === undefined ? undefined : new Date(Date.now() - age).toISOString();
      const asked = { principal, server, digest, before, limit };
      const filter = Object.fromEntries(
        Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
      const ids = given.map((id) => id.slice(id.lastIndexOf('/') + 1));
      if (verb === 'list' && ids.length > 0) sub.error(`error: a list has no ids: wharf files show ${given.join(' ')}`);
      const isAll = verb === 'remove' && ids.length === 0 && Object.keys(filter).join() === 'principal';
      if (verb !== 'list' && ids.length === 0 && !isAll) sub.error(`error: say which: wharf files ${verb} ID…`);
      if (verb !== 'list' && !isAll && Object.keys(filter).length > 0)
        sub.error('error: files are chosen either by their ids or, to remove all of a caller, by --principal alone');
      return take({ kind: 'files', verb, ids, from, filter, isJson: json === true });
    });
}
