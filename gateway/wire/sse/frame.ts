/** What an SSE frame says besides its data. */
export interface FrameFields {
  id?: Buffer;
  event?: Buffer;
  /** Digits: milliseconds. */
  retry?: Buffer;
  /** True when the frame has a `data` line, be it a blank one: without one, clients dispatch no event. */
  data?: boolean;
}
