const hash = (digit: number) => `"sha256:${String(digit).repeat(64)}"`;
const KEYS = `keys: [{ name: ci, hash: ${hash(1)} }, { name: bob, hash: ${hash(2)} }]`;
const JWT = 'jwt: { issuers: [{ issuer: "https://idp.example" }] }';

/** A section `auth` of each kind that knows callers, with two keys and an issuer, and of the kinds that know none. */
export const AUTH = {
  none: 'auth: { use: none }\n',
  apiKeys: `auth: { use: apiKeys, ${KEYS} }\n`,
  jwt: `publicUrl: https://mcp.example.com\nauth: { use: jwt, ${JWT} }\n`,
  both: `publicUrl: https://mcp.example.com\nauth: { use: [apiKeys, jwt], ${KEYS}, ${JWT} }\n`,
  passthrough: 'auth: { use: passthrough }\n',
};
