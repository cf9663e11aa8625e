import { describe, expect, it } from '@jest/globals';
import { settings } from '../../../adapters/state/redis.js';

const problemsOf = (url: string) => settings.safeParse({ url }).error?.issues.map(({ message }) => message) ?? [];

describe('a URL of Redis', () => {
  it.each([
    'redis://redis',
    'rediss://redis.example.com:6380',
    'redis://127.0.0.1:6379/',
    'redis://[::1]:6379/15',
    'redis://:p%23ss@redis:6379/0',
    'redis://wharf:p,w:d!$&=@redis:6379',
    // as the library reads it
    'redis://:p@ss@redis:6379',
  ])('may be %s', (url) => {
    expect(problemsOf(url)).toEqual([]);
  });

  it.each([
    ['a file', '/run/redis.sock', /begin with redis:/],
    ['a web address', 'http://redis:6379', /begin with redis:/],
    ['a socket', 'redis:///run/redis.sock', /name a host/],
    ['no host behind a password', 'redis://:hunter2@', /name a host/],
    ['a list of hosts', 'redis://one:6379,two:6379', /one Redis/],
    ['a port that is not one', 'redis://redis:67x', /must be redis\[s\]:/],
    ['a port that is too large', 'redis://redis:99999', /must be redis\[s\]:/],
    ['a password with a #', 'redis://:hunter2#x@redis:6379', /%23/],
    ['a password with a /', 'redis://:hunter2/x@redis:6379', /%2F/],
    ['a password with a / behind digits', 'redis://user:12/hunter2@redis:6379', /%2F/],
    ['a password with a ?', 'redis://:hunter2?x@redis:6379', /%3F/],
    ['a password with a % that begins no byte', 'redis://:hunter2%x@redis:6379', /%25/],
    ['a database that is a word', 'redis://redis:6379/hunter2', /number of a database/],
    ['a database below 0', 'redis://redis:6379/-1', /number of a database/],
    ['options of a library', 'redis://redis:6379/0?enableOfflineQueue=hunter2', /behind \? or #/],
    ['a fragment', 'redis://redis:6379#hunter2', /behind \? or #/],
  ])('is not %s, and the fault quotes nothing of it', (_what, url, fault) => {
    expect(problemsOf(url)).toEqual([expect.stringMatching(fault)]);
    expect(problemsOf(url).join()).not.toContain('hunter2');
  });
});
