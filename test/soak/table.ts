const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** A table as Markdown, whose columns but the first are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map((_, place) => (place === 0 ? '---' : '--:'))), ...rows.map(row)].join('\n');
}
