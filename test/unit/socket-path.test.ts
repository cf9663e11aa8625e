import { describe, expect, it } from '@jest/globals';
import { socketPath } from '../../gateway/socket-path.js';

describe('the socket of a process that holds a folder', () => {
  it('stands in the folder, as long as the system takes its path', () => {
    expect(socketPath('/data', 'in-use.sock', 'linux')).toBe('/data/in-use.sock');
    expect(socketPath(`/${'x'.repeat(90)}`, 'in-use.sock', 'darwin')).toBe(`/${'x'.repeat(90)}/in-use.sock`);
    expect(socketPath(`/${'x'.repeat(91)}`, 'in-use.sock', 'darwin')).toBeUndefined();
  });

  it('is a pipe on Windows, the same for each spelling of the folder', () => {
    const path = socketPath('/Data/', 'in-use.sock', 'win32');
    expect(path).toMatch(/^\\\\\.\\pipe\\wharf-[0-9a-f]{64}$/);
    expect(socketPath('/data', 'in-use.sock', 'win32')).toBe(path);
    expect(socketPath('/other', 'in-use.sock', 'win32')).not.toBe(path);
    expect(socketPath(`/${'x'.repeat(300)}`, 'in-use.sock', 'win32')).toBeDefined();
  });
});
