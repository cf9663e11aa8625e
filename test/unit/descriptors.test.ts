import { describe, expect, it } from '@jest/globals';
import { fitting, logFitting } from '../../gateway/descriptors.js';
import { DEFAULT_LIMITS as limits } from '../../gateway/policy/limits.js';
import { recordingLog } from '../contract/upstream/subject.js';

const stdio = { transport: 'stdio', limits };
const http = { transport: 'streamable-http', limits };

describe('what the open files that the system allows are enough for', () => {
  it.each([
    ['all limits, where there are many', 1_000_000, [stdio, http], limits.sockets, 100_000],
    ['clients alone, where no server is a program', 256, [http, http], 64, 21],
    ['clients and one program', 256, [stdio, http], 32, 21],
    ['clients and as many processes of each program', 256, [stdio, stdio, stdio, stdio, stdio], 34, 4],
    ['clients, where programs need less than half', 1024, [stdio], 400, 149],
    ['a few clients and one process at least', 64, [stdio, stdio], 16, 1],
  ])('%s', (_, openFiles, servers, sockets, processes) => {
    const fits = fitting({ limits, servers }, openFiles);
    expect(fits.sockets).toBe(sockets);
    expect(Math.min(fits.processes, 100_000)).toBe(processes);
  });

  it.each([
    ['nothing where they are enough for half of the limits', 20_000, []],
    ['which limits hold where they are not', 256, [{ openFiles: 256, sockets: 34, processes: 4 }]],
  ])('tells the operator %s', (_, openFiles, told) => {
    const log = recordingLog();
    const config = { limits, servers: Array(5).fill(stdio) as (typeof stdio)[] };
    logFitting(log, fitting(config, openFiles), config);
    expect(log.lines).toMatchObject(told);
    expect(log.lines).toHaveLength(told.length);
  });
});
