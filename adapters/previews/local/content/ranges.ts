/** A file of which pieces are read. */
export interface Ranges {
  /** Bytes of the file. */
  size: number;
  /** The bytes from `start`, at most `length`; fewer at the file's end. */
  read(start: number, length: number): Promise<Buffer>;
}
