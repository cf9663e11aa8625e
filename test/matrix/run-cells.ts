import { CELLS, openLab, run } from './cells.js';

/**
 * Runs every cell that the dialects of this build have to serve, and prints what became of them: for copies of the
 * repository, in which this is a process of its own.
 */
const lab = await openLab();
const failures: string[] = [];
for (const cell of CELLS) {
  const { client, direction, server } = cell;
  await run(cell, '2025-11-25', lab).catch((error: unknown) =>
    failures.push(`a client that speaks ${client.name}, ${direction}, ${server.name}: ${String(error)}`),
  );
}
await lab.stop();
process.stdout.write(`${JSON.stringify({ cells: CELLS.length, failures })}\n`);
