import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from './lab.js';
import { serverScript } from './paths.js';
import type { Target } from './target.js';
import { gatewayTarget } from './wharf.js';

/** `recording` takes base64 of any length, `sdk` is the official SDK's server: `take_path`, `take_base64`. */
type FileServer = 'recording' | 'sdk';

/** Stored files must be read back here, so they are kept, and not on a disk where memory can hold them. */
interface FilesGateway extends Target<FileServer> {
  /** Where others may put files beside it, on the same file system. */
  readonly folder: string;
  /** Removes the stored files behind the gateway's back; their handles lead nowhere then. */
  forget(): void;
}

const MEMORY_FOLDER = '/dev/shm';
/** A stored file of 1 GiB, its copy as a local file and nginx's two, and as much again. */
const ROOM_BYTES = 8 * 1024 ** 3;
const LIMITS = { file: '2GiB' };

function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= ROOM_BYTES ? MEMORY_FOLDER : undefined;
  } catch {
    return undefined;
  }
}

function removeFiles(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) rmSync(join(entry.parentPath, entry.name), { force: true });
  }
}

/** The gateway with stdio servers that take files, and a file system as its store. @throws Error for another subject */
export async function filesGateway(lab: Lab): Promise<FilesGateway> {
  if (lab.subject !== 'wharf') throw new Error(`${lab.subject} takes no uploads`);
  const folder = mkdtempSync(join(memoryFolder() ?? lab.directory, 'wharf-bench-files-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const objects = join(folder, 'objects');
  const temporary = join(folder, 'tmp');
  for (const path of [objects, temporary]) mkdirSync(path);
  const node = (script: string) => [process.execPath, serverScript(script)];
  const settings = {
    servers: {
      recording: {
        command: node('file-recording'),
        accepts: '2GiB',
        tools: { take: { files: { file: { encoding: 'base64' } } } },
      },
      sdk: {
        command: node('file-sdk'),
        tools: {
          take_path: { files: { path: { encoding: 'localPath' } } },
          take_base64: { files: { data: { encoding: 'base64' } } },
        },
      },
    },
    objects: { use: 'filesystem', path: objects },
    limits: LIMITS,
  };
  const { directory, options } = lab;
  const gateway = {
    name: 'wharf',
    directory: join(directory, 'files'),
    node: options.node,
    nodeArgs: options.nodeArgs,
  };
  const target = await gatewayTarget<FileServer>(gateway, settings, { TMPDIR: temporary });
  return {
    ...target,
    folder,
    forget: () => removeFiles(objects),
    stop: async () => {
      await target.stop();
      remove();
      process.off('exit', remove);
    },
  };
}
