import { type ErrorRow, INTERNAL } from './texts.js';

/** The rows of `ERROR_TABLE` about who calls. */
export const ERRORS_OF_CALLERS = {
  unauthorized: {
    http: 401,
    jsonRpc: -32600,
    text: (f) => {
      const { takes, reason, resourceMetadata } = f;
      if (takes === undefined && resourceMetadata === undefined && reason === undefined)
        return 'A valid API key is required: Authorization: Bearer KEY.';
      const where = resourceMetadata === undefined ? '' : ` ${resourceMetadata} says where clients log in.`;
      const what = takes === 'tokens and keys' ? 'access token or API key' : 'access token';
      return `A valid ${what} is required${reason === undefined ? '' : `: ${reason}`}.${where}`;
    },
  },
  credentials_invalid: { http: 400, jsonRpc: -32600, text: (f) => `The request is refused: ${f.reason}.` },
  insufficient_scope: {
    http: 403,
    jsonRpc: -32600,
    text: (f) => `More rights are needed: ${f.reason}. It takes a token with these scopes: ${f.scope}.`,
  },
  login_needed: {
    http: 401,
    jsonRpc: -32600,
    text: (f) =>
      `The server "${f.server}" wants its callers to log in.${f.resourceMetadata === undefined ? '' : ` ${f.resourceMetadata} says where.`}`,
  },
  caller_forbidden: {
    http: 403,
    jsonRpc: -32600,
    text: (f) => {
      const scopes = f.scope === undefined ? '' : ` It takes a token with these scopes: ${f.scope}.`;
      return `The server "${f.server}" refuses this caller.${scopes}`;
    },
  },
  upstream_login_needed: {
    http: 403,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The server "${f.server}" is used in the name of each person, and this one has not logged in there. Show them this ` +
      `link, and call again when they have: ${f.url}`,
  },
  upstream_login_failed: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `Wharf cannot log in at the server "${f.server}": ${f.reason}.`,
  },
} as const satisfies Record<string, ErrorRow>;
