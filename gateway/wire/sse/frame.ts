/** The fields of an SSE frame besides its data. */
export interface FrameFields {
  id?: Buffer;
  event?: Buffer;
  /** Digits: milliseconds. */
  retry?: Buffer;
  /** True when the frame has a `data` line, even a blank one. Without one, clients dispatch no event. */
  data?: boolean;
}
