import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { type LoadOptions, loadConfig } from '../../../gateway/config/load.js';
import { stateFolder } from '../../../gateway/config/state-folder.js';
import { withCopiesApart } from '../../../gateway/config/store-place.js';

let root: string;
/** A file store of its own, apart from whatever a server is given. */
let made: string[];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'wharf-place-')));
  made = [];
  for (const folder of ['home', 'docs', 'docs/deep', 'store/objects/inner', 'other']) {
    await mkdir(join(root, folder), { recursive: true });
  }
});

afterEach(() => rm(root, { recursive: true, force: true }));

const privateFolder = (base = join(root, 'temporary')) => {
  made.push(base);
  return join(base, 'wharf-private');
};

async function load(server: object, objects?: object, options: LoadOptions = {}, environment?: Record<string, string>) {
  return loadWith({ servers: { s: server }, ...(objects && { objects }) }, options, environment);
}

async function loadWith(config: object, options: LoadOptions = {}, environment?: Record<string, string>) {
  const file = join(root, 'wharf.yaml');
  await writeFile(file, JSON.stringify(config));
  return loadConfig({ file, privateFolder, ...options }, adapters, environment ?? { HOME: join(root, 'home') });
}

const problemsOf = async (...parameters: Parameters<typeof load>) => {
  const loaded = await load(...parameters);
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
};
const placeOf = async (...parameters: Parameters<typeof load>) => {
  const loaded = await load(...parameters);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config.objects;
};
const at = (path: string) => ({ use: 'filesystem', path });

describe('the store of a config that names none', () => {
  it('stays where it is when the config is a link that now leads elsewhere, as in Kubernetes', async () => {
    const server = { url: 'http://127.0.0.1:9/mcp' };
    const before = await placeOf(server);
    for (const version of ['one', 'two']) {
      await mkdir(join(root, version));
      await writeFile(join(root, version, 'wharf.yaml'), JSON.stringify({ servers: { s: server } }));
      await rm(join(root, 'wharf.yaml'));
      await symlink(join(root, version, 'wharf.yaml'), join(root, 'wharf.yaml'));
      expect(await placeOf(server)).toEqual(before);
    }
  });
});

describe('a store in a folder that a stdio server is given', () => {
  it.each<[string, () => object, () => string]>([
    ['an argument', () => ({ command: ['server', join(root, 'docs')] }), () => join(root, 'docs/store')],
    [
      'an argument that is the folder itself',
      () => ({ command: ['server', join(root, 'docs')] }),
      () => join(root, 'docs'),
    ],
    [
      'an argument far above it',
      () => ({ command: ['npx', '-y', 'server', root] }),
      () => join(root, 'docs/deep/store'),
    ],
    ['the working directory', () => ({ command: ['server'], cwd: join(root, 'docs') }), () => join(root, 'docs/store')],
    [
      'an argument from there',
      () => ({ command: ['server', '.'], cwd: join(root, 'docs') }),
      () => join(root, 'docs/store'),
    ],
    [
      'an option’s value',
      () => ({ command: ['server', `--root=${join(root, 'docs')}`] }),
      () => join(root, 'docs/store'),
    ],
    [
      'a mount',
      () => ({ command: ['docker', 'run', '-v', `${join(root, 'docs')}:/data:ro`] }),
      () => join(root, 'docs/store'),
    ],
    [
      'a named mount',
      () => ({ command: ['docker', '--mount', `type=bind,src=${join(root, 'docs')},dst=/data`] }),
      () => join(root, 'docs/store'),
    ],
    ['a file URI', () => ({ command: ['server', `file://${join(root, 'docs')}`] }), () => join(root, 'docs/store')],
    ['the home by its tilde', () => ({ command: ['server', '~'] }), () => join(root, 'home/store')],
    [
      'a command for a shell',
      () => ({ command: ['sh', '-c', `cd / && exec server --all "${join(root, 'docs')}"`] }),
      () => join(root, 'docs/store'),
    ],
    [
      'a command for a shell that enters it',
      () => ({ command: ['sh', '-c', `cd ${join(root, 'docs')}; exec server .`] }),
      () => join(root, 'docs/store'),
    ],
    [
      'a list with blanks',
      () => ({ command: ['server'], env: { ROOTS: `/nowhere ${join(root, 'docs')}` } }),
      () => join(root, 'docs/store'),
    ],
    [
      'a list of lines',
      () => ({ command: ['server'], env: { ROOTS: `/nowhere\n${join(root, 'docs')}\n` } }),
      () => join(root, 'docs/store'),
    ],
    [
      'JSON',
      () => ({ command: ['server', JSON.stringify({ roots: [join(root, 'docs')] })] }),
      () => join(root, 'docs/store'),
    ],
    [
      'an option’s file URI with encoded characters',
      () => ({ command: ['server', `--root=file://${join(root, 'docs').replaceAll('-', '%2D')}`] }),
      () => join(root, 'docs/store'),
    ],
    [
      'the home by its variable',
      () => ({ command: ['sh', '-c', 'exec server $HOME'] }),
      () => join(root, 'home/store'),
    ],
    [
      'the home that it is given itself',
      () => ({ command: ['server', '~/'], env: { HOME: join(root, 'docs') } }),
      () => join(root, 'docs/store'),
    ],
    ['a variable', () => ({ command: ['server'], env: { ROOT: join(root, 'docs') } }), () => join(root, 'docs/store')],
    [
      'a folder inside of the stored files',
      () => ({ command: ['server', join(root, 'store/objects/inner')] }),
      () => join(root, 'store'),
    ],
  ])('is refused: %s', async (_how, server, path) => {
    const [problem = ''] = await problemsOf(server(), at(path()));
    expect(problem).toMatch(/^objects\.path: overlaps with .*which a server is given \(servers\.s\./);
  });

  it('is refused through symbolic links on either side', async () => {
    await symlink(join(root, 'docs'), join(root, 'link'));
    expect(await problemsOf({ command: ['server', join(root, 'link')] }, at(join(root, 'docs/store')))).toHaveLength(1);
    expect(await problemsOf({ command: ['server', join(root, 'docs')] }, at(join(root, 'link/store')))).toHaveLength(1);
    await symlink(join(root, 'docs'), join(root, 'other', 'link'));
    const byName = { command: ['server', '--root=link'], cwd: join(root, 'other') };
    expect(await problemsOf(byName, at(join(root, 'docs/store')))).toHaveLength(1);
  });

  it('is named without what stands beside it, which may be a secret', async () => {
    const env = { SETTINGS: JSON.stringify({ token: 'hunter2', root: join(root, 'docs') }) };
    const [problem] = await problemsOf({ command: ['server'], env }, at(join(root, 'docs/store')));
    expect(problem).toContain(`overlaps with ${join(root, 'docs')}, which a server is given (servers.s.env.SETTINGS)`);
    expect(problem).not.toContain('hunter2');
  });

  it.each<[string, () => object]>([
    ['a folder beside it', () => ({ command: ['server', join(root, 'docs')] })],
    ['a folder whose name begins alike', () => ({ command: ['server', join(root, 'oth')] })],
    ['no folder', () => ({ command: ['server', 'other', '--name=other', 'https://example.com/other'] })],
    ['the user’s own variables', () => ({ command: ['server'], env: { HOME: root, PATH: root } })],
    ['an HTTP server', () => ({ url: 'http://127.0.0.1:1/mcp' })],
  ])('is none: %s', async (_how, server) => {
    expect(await problemsOf(server(), at(join(root, 'other/store')))).toEqual([]);
  });
});

describe('an audit log in a folder that a stdio server is given', () => {
  const problemsWith = async (path: string) => {
    const servers = { s: { command: ['server', join(root, 'docs')] } };
    const objects = at(join(root, 'other'));
    const loaded = await loadWith({ servers, objects, audit: { use: 'file', path } });
    return loaded.ok ? [] : loaded.problems.map((found) => `${found.path}: ${found.message}`);
  };

  it('is refused, as its tools could read and change it', async () => {
    const problem =
      `audit.path: is in ${join(root, 'docs')}, which a server is given (servers.s.command[1]): its tools could read and ` +
      'change the audit log. Choose a file apart from it';
    expect(await problemsWith(join(root, 'docs/audit.jsonl'))).toEqual([problem]);
    expect(await problemsWith(join(root, 'docs/deep/new/audit.jsonl'))).toEqual([problem]);
    expect(await problemsWith(join(root, 'docs-2/audit.jsonl'))).toEqual([]);
    await symlink(join(root, 'docs/audit.jsonl'), join(root, 'store/audit.jsonl'));
    await writeFile(join(root, 'docs/audit.jsonl'), '');
    expect(await problemsWith(join(root, 'store/audit.jsonl'))).toEqual([problem]);
    await symlink(join(root, 'store/elsewhere.jsonl'), join(root, 'docs/link.jsonl'));
    expect(await problemsWith(join(root, 'docs/link.jsonl'))).toEqual([problem]);
  });
});

describe('a config in a folder that a stdio server is given', () => {
  const served = async (server: object, file: string) => {
    const config = { servers: { s: server }, objects: at(join(root, 'other/store')) };
    await writeFile(join(root, 'docs/wharf.yaml'), JSON.stringify(config));
    const loaded = await loadConfig({ file }, adapters, { HOME: join(root, 'home') });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return { isServed: loaded.isServed, warnings: loaded.config.warnings };
  };

  it('is told, as its tools could decide what Wharf runs', async () => {
    const server = { command: ['server', join(root, 'docs')] };
    const file = join(root, 'docs/wharf.yaml');
    const message =
      `is in ${join(root, 'docs')}, which a server is given (servers.s.command[1]): its tools could read the secrets in it, ` +
      'and decide what Wharf runs. Keep it apart; where it is, a change is read only on SIGHUP';
    expect(await served(server, file)).toEqual({ isServed: true, warnings: [{ path: file, message }] });
    await symlink(file, join(root, 'link.yaml'));
    expect((await served(server, join(root, 'link.yaml'))).isServed).toBe(true);
    expect(await served({ command: ['server', join(root, 'docs/deep')] }, file)).toEqual({
      isServed: false,
      warnings: [],
    });
  });
});

describe('copies of files for a server that takes paths', () => {
  it('are not where another server is given the folder for temporary files', async () => {
    const places = { system: join(root, 'docs/deep'), apart: join(root, 'home/state') };
    const placesWith = async (others: object) => {
      const servers = { takes: { command: ['server'] }, web: { url: 'http://127.0.0.1:9/mcp' }, ...others };
      const loaded = await loadWith({ servers, objects: at(join(root, 'store')) });
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
      const placed = await withCopiesApart(loaded.config, places);
      return Object.fromEntries(placed.flatMap(({ name, copies }) => (copies === undefined ? [] : [[name, copies]])));
    };
    expect(await placesWith({})).toEqual({});
    expect(await placesWith({ files: { command: ['server', join(root, 'other')] } })).toEqual({});
    // the one that is given the folder finds its own copies there
    const docs = { command: ['server', join(root, 'docs')] };
    expect(await placesWith({ docs })).toEqual({ takes: places.apart });
    expect(await placesWith({ docs, home: { command: ['server', '~'] } })).toEqual({});
  });
});

describe('a store that is not chosen', () => {
  const server = { command: ['server'] };

  it('lies in the user’s state folder, never in the working directory', async () => {
    const place = await placeOf(server);
    expect(place.use).toBe('filesystem');
    expect(place.settings.path).toMatch(new RegExp(`^${join(root, 'home/.local/state/wharf')}/[0-9a-f]{16}$`));
    expect(await placeOf(server, { use: 'filesystem' })).toEqual(place);
    expect(await readdir(join(root, 'home'))).toEqual([]);
    const xdg = await placeOf(server, undefined, {}, { HOME: join(root, 'home'), XDG_STATE_HOME: join(root, 'other') });
    expect(xdg.settings.path).toMatch(join(root, 'other/wharf/'));
    // relative paths are not to be heeded
    const odd = await placeOf(server, undefined, {}, { HOME: join(root, 'home'), XDG_STATE_HOME: 'here' });
    expect(odd).toEqual(place);
  });

  it('is another one for another config and another port, and the same at the next start', async () => {
    const one = await placeOf(server);
    expect(await placeOf({ command: ['another'] })).toEqual(one);
    expect(await placeOf(server, undefined, { overrides: { listen: '127.0.0.1:8081' } })).not.toEqual(one);
    const identity = { file: '/a', servers: undefined, listen: '127.0.0.1:1' };
    const homes = { HOME: '/home/me', LOCALAPPDATA: 'C:\\L', USERPROFILE: 'C:\\U' };
    expect(stateFolder(identity, homes, 'linux')).not.toBe(stateFolder({ ...identity, file: '/b' }, homes, 'linux'));
    expect(stateFolder(identity, homes, 'darwin')).toMatch(/^\/home\/me\/Library\/Application Support\/wharf\//);
  });

  it.each<[string, () => object, LoadOptions, Record<string, string> | undefined]>([
    ['without a home', () => server, {}, {}],
    ['with a port that the system chooses', () => server, { overrides: { listen: '127.0.0.1:0' } }, undefined],
    ['where a server is given the state folder', () => ({ command: ['server', join(root, 'home')] }), {}, undefined],
    ['of a stdio client', () => server, { isPrivate: true }, undefined],
  ])('is a folder of the process alone %s', async (_when, of, options, environment) => {
    const { settings } = await placeOf(of(), undefined, options, environment);
    expect(settings.path).toBe(join(root, 'temporary/wharf-private'));
  });

  it('is in the state folder where a stdio client’s server is given the temporary one', async () => {
    await mkdir(join(root, 'temporary'));
    const { settings } = await placeOf({ command: ['server', join(root, 'temporary')] }, undefined, {
      isPrivate: true,
    });
    expect(settings.path).toBe(join(root, 'home/.local/state/wharf/wharf-private'));
  });

  it('is the process’s memory where a server is given everything', async () => {
    expect(await placeOf({ command: ['server', '/'] })).toEqual({ use: 'memory', settings: { maxBytes: 268_435_456 } });
  });
});
