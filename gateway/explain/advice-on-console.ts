import type { Advice } from './row.js';

export const OF_CONSOLE = {
  console_login: {
    why: "A page or an API of the admin port was asked for without a key of the config's `console.users`, or the login is over: it lasts 8 hours.",
    todo: 'Log in at `/login` of the admin port. A program sends `Authorization: Bearer KEY`.',
  },
  console_tries: {
    why: 'One address has tried ten different wrong keys within a minute.',
    todo: 'Wait a minute, or give the user a random key (`openssl rand -hex 32`): one that is right is taken meanwhile. If it was not you, find out who reaches the admin port.',
    facts: { retryAfter: 42 },
  },
  console_role: {
    why: 'A viewer of the console tried to change something.',
    todo: 'Ask an operator, or give the user `role: operator` in `console.users`.',
    facts: { role: 'viewer' },
  },
  file_held: {
    why: 'An operator wanted to remove a file that one has put on hold.',
    todo: 'If it may go now, release it, and remove it then.',
  },
} as const satisfies Record<string, Advice>;
