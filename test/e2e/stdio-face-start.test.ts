import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { FaceProcess } from './stdio-face-process.js';

const EARLY = fileURLToPath(new URL('../../../test/helpers/early-server.fixture.mjs', import.meta.url));

let face: FaceProcess;

afterEach(() => face.clean());

describe('wharf stdio in front of a server that opens no session', () => {
  it('says that the command was not found, to every request', async () => {
    face = await FaceProcess.start('--', 'nope-cmd');
    const opened = await face.initialize();
    expect(opened.error?.message).toBe('The server "nope-cmd" cannot be reached: its command was not found.');
    face.request(1, 'tools/list');
    expect((await face.answer(1)).error?.message).toBe(opened.error?.message);
  });

  it('says what comes first, and nothing of headers', async () => {
    face = await FaceProcess.start('--', process.execPath, EARLY, 'error');
    face.request(1, 'tools/list');
    expect((await face.answer(1)).error?.message).toBe('There is no session: send "initialize" first.');
    expect((await face.initialize()).error).toEqual({ code: -32602, message: 'no such version' });
    face.request(2, 'tools/list');
    expect((await face.answer(2)).error?.message).toBe('There is no session: send "initialize" first.');
  });
});
