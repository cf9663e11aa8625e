import { describe, expect, it } from '@jest/globals';
import { environmentOf, inheritedFrom, withheldFrom } from '../../gateway/inherited-env.js';

const UNIX = { HOME: '/home/ada', PATH: '/bin', Path: '/other', AWS_SECRET_ACCESS_KEY: 'x', APPDATA: 'no' };
const WINDOWS = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', AWS_SECRET_ACCESS_KEY: 'x', HOME: 'no' };

describe('what a program inherits', () => {
  it('is five variables on Linux and macOS, by their exact names', () => {
    expect(inheritedFrom(UNIX, 'linux')).toEqual({ HOME: '/home/ada', PATH: '/bin' });
    expect(withheldFrom(UNIX, 'linux')).toEqual(['Path', 'AWS_SECRET_ACCESS_KEY', 'APPDATA']);
  });

  it('is what Windows sets itself, in whatever case, under names in capitals', () => {
    expect(inheritedFrom(WINDOWS, 'win32')).toEqual({ PATH: 'C:\\bin', SYSTEMROOT: 'C:\\Windows' });
    expect(withheldFrom(WINDOWS, 'win32')).toEqual(['AWS_SECRET_ACCESS_KEY', 'HOME']);
  });

  it('gives way to the variables of the server’s own, which on Windows may differ in their case', () => {
    const own = { Path: 'D:\\', Token: 't' };
    expect(environmentOf(WINDOWS, own, 'win32')).toEqual({ PATH: 'D:\\', SYSTEMROOT: 'C:\\Windows', Token: 't' });
    expect(environmentOf(UNIX, own, 'linux')).toEqual({ HOME: '/home/ada', PATH: '/bin', Path: 'D:\\', Token: 't' });
  });
});
