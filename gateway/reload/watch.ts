import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Config } from '../config/config.js';
import type { LoadResult } from '../config/load.js';
import type { Log } from '../ports/log.js';
import { problemsText } from '../report.js';
import { onHangUp } from './hang-up.js';
import type { Reload } from './present-config.js';

/**
 * How often the file is looked at. Its date and inode are compared, so that editors which write a new file, and
 * Kubernetes, which moves a link, are seen too.
 */
const LOOK_MS = 2000;

interface ReloadSource {
  /** The config's file. */
  file: string;
  /** The file before the present config was read. */
  seen: Stats | undefined;
  /** A server of the present config may change the file. */
  isServed?: boolean | undefined;
  load: () => Promise<LoadResult>;
  /** Puts a config in the place of the present one, as a whole or not at all. */
  reload: (config: Config) => Promise<Reload>;
  /** Called for a file that cannot be used. */
  refused: (why: string) => void;
  log: Log;
}

/** Reloads the config on SIGHUP, and when its file changes. @returns ends that */
export function watchForReloads(source: ReloadSource): () => void {
  const { file, log } = source;
  let last: Promise<void> = Promise.resolve();
  let seen = source.seen;
  let isServed = source.isServed === true;
  const reload = async (why: string): Promise<void> => {
    // looked at before it is read: a change in between is one that the next look sees
    seen = await lookAt(file);
    isServed = (await reloadFrom(source, why)) ?? isServed;
  };
  const look = async (): Promise<void> => {
    const now = await lookAt(file);
    // after a SIGHUP for the same change it would be told twice
    if (isSame(now, seen)) return;
    if (!isServed) return reload('the file has changed');
    seen = now;
    // callers of its tools would decide which programs Wharf runs
    log.warn({ file }, 'The config has changed and is not read: a server may change it. SIGHUP reads it.');
    source.refused('a server may change the file');
  };
  // one after the other: the later file counts
  const onChange = (): void => {
    last = last.then(look);
  };
  const end = onHangUp(() => {
    last = last.then(() => reload('SIGHUP'));
  });
  // Not a timer: these looks run no JavaScript in an idle process.
  watchFile(file, { interval: LOOK_MS, persistent: false }, onChange);
  // it begins with the file as it finds it some time later, and does not tell of a change before that
  const timer = setTimeout(onChange, LOOK_MS).unref();
  return () => {
    end();
    unwatchFile(file, onChange);
    clearTimeout(timer);
  };
}

/** The state of a config's file; undefined where it does not exist. */
export function lookAt(file: string): Promise<Stats | undefined> {
  return stat(file).catch(() => undefined);
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  if (!one || !other) return one === other;
  return one.ino === other.ino && one.mtimeMs === other.mtimeMs && one.size === other.size;
}

/** @returns whether a server of the config that is in force now may change the file; undefined if it is the one before */
async function reloadFrom(
  { file, load, reload, refused, log }: ReloadSource,
  why: string,
): Promise<boolean | undefined> {
  try {
    const loaded = await load();
    if (!loaded.ok) {
      const problems = problemsText(loaded.problems).trimEnd().split('\n');
      log.error({ file, why, problems }, 'The config has problems; nothing was changed.');
      refused('the config has problems');
      return undefined;
    }
    const result = await reload(loaded.config);
    switch (result.kind) {
      case 'restart':
        log.error(
          { file, why, keys: result.keys },
          'These keys need a restart; nothing was changed. Restart Wharf, or put them back: then the rest counts.',
        );
        refused(`a restart is needed for ${result.keys.join(', ')}`);
        return undefined;
      case 'done':
        log.info(
          { file, why, keys: result.keys, changed: result.changed },
          'The config was reloaded. Running exchanges keep theirs.',
        );
        if (result.loginsOver.length > 0)
          log.warn({ servers: result.loginsOver }, "People's own logins at these servers are not used any longer.");
        break;
      case 'same':
        log.info({ file, why }, 'The config says what it said before.');
    }
    return loaded.isServed === true;
  } catch (error) {
    log.error({ file, why, err: error }, 'The config could not be reloaded; nothing was changed.');
    refused('a part of it could not be made');
    return undefined;
  }
}
