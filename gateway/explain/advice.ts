import type { ErrorCode } from '../errors.js';
import { OF_CONSOLE } from './advice-on-console.js';
import { OF_FILES } from './advice-on-files.js';
import { OF_LACK } from './advice-on-lack.js';
import { OF_REQUESTS } from './advice-on-requests.js';
import { OF_SERVERS } from './advice-on-servers.js';
import { OF_UPLOADS } from './advice-on-uploads.js';
import type { Advice } from './row.js';

/** By what the error is about, in the order of a message's way. */
export const GROUPS = {
  'Requests and sessions': OF_REQUESTS,
  'Links and files': OF_FILES,
  Uploads: OF_UPLOADS,
  'Servers and their results': OF_SERVERS,
  'What Wharf lacks, and waits that it ends': OF_LACK,
  'The console': OF_CONSOLE,
} as const satisfies Record<string, Partial<Record<ErrorCode, Advice>>>;

/** Advice on every error: one without it does not compile. */
export const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  ...OF_REQUESTS,
  ...OF_FILES,
  ...OF_UPLOADS,
  ...OF_SERVERS,
  ...OF_LACK,
  ...OF_CONSOLE,
};
