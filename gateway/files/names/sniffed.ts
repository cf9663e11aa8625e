/** A file's type by its first bytes. */
export interface Sniffed {
  /** Lower case, without parameters. */
  mime: string;
  /** Without the dot. */
  ext: string;
}
