import type { Command } from 'commander';

/** Be an MCP server of marked results. */
export interface ProbeAction {
  kind: 'probe';
  /** Over HTTP instead of standard input and output. */
  port: number | undefined;
}

const MAX_PORT = 65_535;

/** Adds `wharf probe`. @param take gets what was asked for */
export function addProbeCommand(program: Command, take: (action: ProbeAction) => void): void {
  program
    .command('probe')
    .description('be an MCP server of marked results, and tell what of them a host shows to its model')
    .option(
      '--http <port>',
      'serve Streamable HTTP on this port of 127.0.0.1 (0: a free one), instead of standard input and output',
    )
    .action(({ http }: { http?: string }, command: Command) => {
      const port = http === undefined ? undefined : Number(http);
      if (port !== undefined && !(/^\d+$/.test(http ?? '') && port <= MAX_PORT))
        command.error('error: --http must be a port');
      take({ kind: 'probe', port });
    });
}
