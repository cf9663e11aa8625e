import type { ErrorRow } from './texts.js';

/** The rows of `ERROR_TABLE` for operators: of the console, and of `wharf files`. */
export const ERRORS_OF_CONSOLE = {
  console_login: {
    http: 401,
    jsonRpc: -32600,
    text: () => 'The console needs a key of one of its users: log in at /login, or send Authorization: Bearer KEY.',
  },
  console_tries: {
    http: 429,
    jsonRpc: -32600,
    text: (f) => `Too many wrong keys came from this address. Try again in ${f.retryAfter} s.`,
  },
  console_role: {
    http: 403,
    jsonRpc: -32600,
    text: (f) => `A ${f.role} of the console may not do this: only an operator may.`,
  },
  file_held: {
    http: 409,
    jsonRpc: -32600,
    text: () => 'The file is held: release it before it is removed.',
  },
} as const satisfies Record<string, ErrorRow>;
