import { describe, expect, it } from '@jest/globals';
import type { Config } from '../../../gateway/config/config.js';
import { machineChecks, roomOn } from '../../../gateway/doctor/machine.js';
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

  it.each([
    ['that is full is to make room, since nothing can be written there', { blocks: 9, bavail: 0 }, 'failed'],
    ['with room for a few files is to make more', { blocks: 9000, bavail: 4096 }, 'warning'],
    ['that tells no numbers is to look', { blocks: 0, bavail: 0 }, 'warning'],
    ['with room for all is nothing', { blocks: 90_000, bavail: 65_536 }, 'ok'],
  ])('about a disk %s', (_what, numbers, state) => {
    const todo = 'Make room.';
    const wanted = 64 * 1024 * 1024;
    const found = roomOn({ bsize: 1024, ...numbers }, { folder: '/data', wanted, todo });
    expect(found).toMatchObject(state === 'ok' ? { state } : { state, todo });
    expect(found.text).toContain(numbers.blocks === 0 ? 'does not say' : ' free');
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
