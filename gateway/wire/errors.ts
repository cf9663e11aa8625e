/**
 * `syntax`: not the expected JSON or head. `depth`: nested deeper than `maxDepth`. `truncated`: the body ended inside a
 * value. `held`: a message passed `maxHeld`, or an SSE line other than `data:` is too long. `base64`: not base64.
 * `closed`: fed after a failure or after its end.
 */
type WireErrorCode = 'syntax' | 'depth' | 'truncated' | 'held' | 'base64' | 'closed';

/** What is wrong with bytes, and where: `offset` counts raw bytes from the start of the message or string. */
export class WireError extends Error {
  readonly code: WireErrorCode;
  readonly offset: number;

  constructor(code: WireErrorCode, reason: string, offset: number) {
    super(`${reason} at byte ${offset}`);
    this.name = 'WireError';
    this.code = code;
    this.offset = offset;
  }
}
