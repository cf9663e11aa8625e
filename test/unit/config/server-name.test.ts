import { describe, expect, it } from '@jest/globals';
import { nameOfCommand } from '../../../gateway/config/server-name.js';

describe('the name of a server that is given as a command', () => {
  it.each([
    [['npx', '-y', '@modelcontextprotocol/server-filesystem', '/data'], 'server-filesystem'],
    [['node', 'ocr.js'], 'ocr'],
    [['uvx', 'some-server@1.2'], 'some-server'],
    [['docker', 'run', '-i', '--rm', 'mcp/time'], 'time'],
  ])('%j is %s', (command, name) => {
    expect(nameOfCommand(command)).toBe(name);
  });

  it.each(['index.js', 'dist/main.js', 'build/stdio.js', 'dist/bin.js', 'src/app.ts', 'cli.js'])(
    'node %s has none of its own',
    (file) => {
      expect(nameOfCommand(['node', file])).toBe('default');
    },
  );
});
