/** Refusals that say nothing about the transport: of credentials, and of the moment. */
const OF_OTHER_THINGS = new Set([401, 403, 407, 408, 425, 429]);

/**
 * Whether a server that refuses `initialize` with this status may know only HTTP+SSE (2024-11-05). MCP 2025-03-26 and
 * 2025-06-18 ask for its stream after any 4xx, later versions after 400, 404 and 405. Frameworks refuse a POST to the path
 * of a stream also with 406, 415 or 422.
 */
export function mayBeOldTransport(status: number): boolean {
  return status >= 400 && status < 500 && !OF_OTHER_THINGS.has(status);
}
