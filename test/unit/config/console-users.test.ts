import { describe, expect, it } from '@jest/globals';
import { problemsOf } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/mcp" } }\n';
const hash = (digit: number) => `"sha256:${String(digit).repeat(64)}"`;
const withUsers = (users: string, rest = 'adminListen: 127.0.0.1:9090\n') =>
  `${SERVER}${rest}console: { users: [${users}] }\n`;

describe('a user of the console', () => {
  it('has a key that is not that of another one, whose rights it would have', async () => {
    const text = withUsers(`{ name: ann, hash: ${hash(1)} }, { name: bob, hash: ${hash(1)}, role: operator }`);
    expect(await problemsOf(text)).toMatchObject([
      { path: 'console.users[1].hash', message: 'is also the hash of the key of "ann"; a key is one user\'s' },
    ]);
  });

  it.each([
    ['the first', 0],
    ['the second', 1],
  ])('%s of two is told when the hash of its key is none, as is what is wrong with others', async (_which, at) => {
    const hashes = [hash(1), hash(2)].with(at, '"sha256:1"');
    const [ann, bob] = hashes.map((one, index) => `{ name: ${['ann', 'bob'][index]}, hash: ${one} }`);
    const text = withUsers(`${ann}, ${bob}, { name: eve, hash: ${hash(3)} }, { name: zoe, hash: ${hash(3)} }`);
    const paths = (await problemsOf(text)).map(({ path }) => path);
    expect(paths).toEqual([`console.users[${at}].hash`, 'console.users[3].hash']);
  });

  it('may have two keys, by which it may do the same', async () => {
    const two = (role: string) =>
      withUsers(`{ name: ann, hash: ${hash(1)}, role: operator }, { name: ann, hash: ${hash(2)}, role: ${role} }`);
    expect(await problemsOf(two('operator'))).toEqual([]);
    expect(await problemsOf(two('viewer'))).toMatchObject([
      { path: 'console.users[1].role', message: expect.stringMatching(/must be that of the other key of "ann"/) },
    ]);
  });

  it('finds the pages on the admin port, which must be there', async () => {
    const user = `{ name: ann, hash: ${hash(1)} }`;
    expect(await problemsOf(withUsers(user, 'listen: 127.0.0.1:8080\n'))).toMatchObject([
      { path: 'adminListen', message: 'is required with console.users: the pages are on the admin port' },
    ]);
    const isThereByDefault =
      'listen: 0.0.0.0:8080\npublicUrl: https://a.example\nauth: { use: none, allowPublic: true }\n';
    expect(await problemsOf(withUsers(user, isThereByDefault))).toEqual([]);
  });
});
