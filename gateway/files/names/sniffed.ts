/** What the first bytes of a file say it is. */
export interface Sniffed {
  /** Lower case, without parameters. */
  mime: string;
  /** Without the dot. */
  ext: string;
}
