import { describe, expect, it } from '@jest/globals';
import type { Config } from '../../../gateway/config/config.js';
import { runAll } from '../../../gateway/doctor/check.js';
import { machineChecks } from '../../../gateway/doctor/machine.js';
import { startFailureText } from '../../../gateway/report.js';

describe('what a person is told to do', () => {
  it('about a folder that cannot be written is not to make room on its disk', () => {
    const audit = { settings: { path: 'audit/log.jsonl' } };
    const config = { objects: { settings: { path: 'files' } }, audit, limits: { file: 1 } } as unknown as Config;
    const disks = machineChecks(config, { sockets: 1, processes: 1 }).filter(({ title }) => title.startsWith('disk'));
    expect(disks.map(({ title, todo }) => [title, todo])).toEqual([
      ['disk of temporary files', expect.stringMatching(/^Make it writable .* set TMPDIR/)],
      ['disk of files', expect.stringMatching(/^Make it writable .* set objects\.path/)],
      ['disk of the audit log', expect.stringMatching(/^Make it writable .* set audit\.path/)],
    ]);
  });

  it('about a disk without room is a failure, since nothing can be written there', async () => {
    const audit = { settings: { path: '/proc/none/log.jsonl' } };
    const config = { objects: { settings: {} }, audit, limits: { file: 1 } } as unknown as Config;
    const checks = machineChecks(config, { sockets: 1, processes: 1 });
    const found = await runAll(checks, new AbortController().signal);
    expect(found.find(({ title }) => title === 'disk of the audit log')?.state).toBe('failed');
  });

  it.each([
    [undefined, '--listen'],
    ['--http', '--http'],
  ])('about a port in use names the option of its own command: %s', (option, said) => {
    const error = Object.assign(new Error('listen'), { code: 'EADDRINUSE', address: '127.0.0.1', port: 8090 });
    expect(startFailureText(error, option)).toBe(
      `127.0.0.1:8090 is already in use. Choose another port with ${said}.\n`,
    );
  });

  it('about a port below 1024 is to choose another one', () => {
    const error = Object.assign(new Error('listen EACCES'), { code: 'EACCES', address: '127.0.0.1', port: 80 });
    expect(startFailureText(error)).toMatch(/^127\.0\.0\.1:80 may not be listened on: .* Choose one above 1023/);
  });
});
