const PREFIX = 'io.modelcontextprotocol/';

/** Keys of a request's `_meta` by which a client without a session says, with each request, what `initialize` says once. */
export const META_VERSION = `${PREFIX}protocolVersion`;
export const META_CAPABILITIES = `${PREFIX}clientCapabilities`;
export const META_CLIENT = `${PREFIX}clientInfo`;
