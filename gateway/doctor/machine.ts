import type { StatsFs } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { sizeText } from '../policy/amounts.js';
import type { Check, Finding } from './check.js';

/** Largest files that a disk should still have room for. */
const FILES_TO_HOLD = 10;

/** A disk with less room than that takes neither a file nor a line. */
const LEAST_ROOM = 1024 * 1024;

/** What the system's limit of open files leaves room for. */
export interface FitsOpenFiles {
  /** Client connections. */
  sockets: number;
  /** Processes of each stdio server. */
  processes: number;
}

/** What the machine has for this config: its Node, room on its disks, and open files. */
export function machineChecks(config: Config, fits: FitsOpenFiles): Check[] {
  const { path } = config.objects.settings;
  const log = config.audit.settings.path;
  const disks = [
    {
      title: 'disk of temporary files',
      folder: tmpdir(),
      todo: writable('TMPDIR'),
      ifFull: 'Make room there, or set TMPDIR to a larger disk.',
    },
    ...(typeof path === 'string'
      ? [
          {
            title: 'disk of files',
            folder: path,
            todo: writable('objects.path'),
            ifFull: 'Make room, or set objects.path to a larger disk.',
          },
        ]
      : []),
    ...(typeof log === 'string'
      ? [
          {
            title: 'disk of the audit log',
            folder: dirname(resolve(log)),
            todo: writable('audit.path'),
            ifFull: 'Make room, or lower audit.keep.',
          },
        ]
      : []),
  ];
  return [
    {
      group: 'machine',
      title: 'Node',
      todo: 'Install a current Node.',
      run: async () => ({ state: 'ok', text: process.version }),
    },
    {
      group: 'machine',
      title: 'open files',
      todo: 'Raise ulimit -n (LimitNOFILE in systemd).',
      run: async () => enoughFiles(config, fits),
    },
    ...disks.map(({ title, folder, todo, ifFull }) => ({
      group: 'machine',
      title,
      todo,
      run: () => roomIn(folder, config.limits.file * FILES_TO_HOLD, ifFull),
    })),
  ];
}

const writable = (setting: string) =>
  `Make it writable for the user that Wharf runs as, or set ${setting} to another place.`;

function enoughFiles({ limits, servers }: Pick<Config, 'limits' | 'servers'>, fits: FitsOpenFiles): Finding {
  const wanted = limits.sockets;
  const few = servers.filter((one) => one.transport === 'stdio' && fits.processes < one.limits.processes);
  const processes = few.map((one) => `${fits.processes} of limits.processes = ${one.limits.processes} for ${one.name}`);
  if (fits.sockets >= wanted && few.length === 0) return { state: 'ok', text: `enough for limits.sockets = ${wanted}` };
  const todo = 'Raise ulimit -n (LimitNOFILE in systemd), or lower limits.sockets and limits.processes.';
  const connections = `enough for ${fits.sockets} of limits.sockets = ${wanted} connections`;
  return { state: 'warning', text: [connections, ...processes].join(', '), todo };
}

async function roomIn(folder: string, wanted: number, todo: string): Promise<Finding> {
  const there = await existing(folder);
  await access(there, constants.W_OK);
  return roomOn(await statfs(there), { folder, wanted, todo });
}

/** What a disk's room means for a folder that needs `wanted` bytes. */
export function roomOn(
  { blocks, bavail, bsize }: Pick<StatsFs, 'blocks' | 'bavail' | 'bsize'>,
  { folder, wanted, todo }: { folder: string; wanted: number; todo: string },
): Finding {
  // some file systems of a network or a program count nothing
  if (blocks === 0) return { state: 'warning', text: `${folder}: its file system does not say how much is free`, todo };
  const free = bavail * bsize;
  const text = `${folder}: ${sizeText(free)} free`;
  if (free >= wanted) return { state: 'ok', text };
  if (free < LEAST_ROOM) return { state: 'failed', text: `${text}: it is full`, todo };
  return { state: 'warning', text: `${text}, less than ${FILES_TO_HOLD} times limits.file`, todo };
}

/** The folder, or the nearest one above it that exists: Wharf creates the others. */
async function existing(folder: string): Promise<string> {
  try {
    await access(folder);
    return folder;
  } catch (error) {
    const above = dirname(folder);
    if (above === folder) throw error;
    return existing(above);
  }
}
