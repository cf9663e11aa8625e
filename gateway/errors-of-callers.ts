import type { ErrorRow } from './error-texts.js';

/** The rows of `ERROR_TABLE` about who calls. */
export const ERRORS_OF_CALLERS = {
  unauthorized: {
    http: 401,
    jsonRpc: -32600,
    text: (f) => {
      if (f.resourceMetadata === undefined && f.reason === undefined)
        return 'A valid API key is required: Authorization: Bearer KEY.';
      const where = f.resourceMetadata === undefined ? '' : ` ${f.resourceMetadata} says where clients log in.`;
      return `A valid access token is required${f.reason === undefined ? '' : `: ${f.reason}`}.${where}`;
    },
  },
  credentials_invalid: { http: 400, jsonRpc: -32600, text: (f) => `The request is refused: ${f.reason}.` },
  insufficient_scope: {
    http: 403,
    jsonRpc: -32600,
    text: (f) => `More rights are needed: ${f.reason}. It takes a token with these scopes: ${f.scope}.`,
  },
} as const satisfies Record<string, ErrorRow>;
