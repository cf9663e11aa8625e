import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyOfTree } from '../../helpers/tree-copy.js';

const run = promisify(execFile);

/** A fault may make a test wait for ever. */
const MOST_MS = 600_000;
const MOST_OUTPUT = 64 * 1024 * 1024;

interface Outcome {
  passed: number;
  /** Names of tests that failed. */
  failed: string[];
  /** Why suites could not run at all. */
  broken: string | undefined;
}

interface JestReport {
  numPassedTests: number;
  testResults: { message: string; assertionResults: { status: string; fullName: string }[] }[];
}

/** A copy of the working tree in which faults are seeded, so that nothing of it can stay behind in the real one. */
export class Scratch {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async make(): Promise<Scratch> {
    return new Scratch(await copyOfTree('mutants'));
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.root, file), text);
  }

  /** @returns what the compiler says, or nothing */
  async compile(): Promise<string> {
    try {
      await run('npm', ['run', '-s', 'build'], { cwd: this.root });
      return '';
    } catch (error) {
      return String((error as { stdout?: unknown }).stdout)
        .trim()
        .slice(0, 500);
    }
  }

  /** @param suites from `test/` */
  async test(suites: readonly string[], names?: string): Promise<Outcome> {
    const report = join(this.root, 'report.json');
    await rm(report, { force: true });
    const paths = suites.map((suite) => `/dist/test/${suite}\\.test\\.js$`);
    const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '-w', '1', '--forceExit'];
    if (names !== undefined) args.push('-t', names);
    let output = '';
    try {
      await run(process.execPath, [...args, '--json', `--outputFile=${report}`, ...paths], {
        cwd: this.root,
        timeout: MOST_MS,
        killSignal: 'SIGKILL',
        maxBuffer: MOST_OUTPUT,
      });
    } catch (error) {
      output = String((error as { stderr?: unknown }).stderr);
    }
    const text = await readFile(report, 'utf8').catch(() => undefined);
    if (text === undefined)
      return { passed: 0, failed: [`no end within ${MOST_MS / 1000} s`], broken: output.slice(-500) };
    const { numPassedTests, testResults } = JSON.parse(text) as JestReport;
    const failed = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    );
    const unable = testResults.find(({ assertionResults, message }) => assertionResults.length === 0 && message !== '');
    return { passed: numPassedTests, failed, broken: unable?.message.slice(0, 500) };
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }
}
