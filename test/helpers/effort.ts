/**
 * How much of the same work the tests do. 1 is everything, which `npm test` and CI do. `npm run test:fast` sets
 * WHARF_TEST_EFFORT to a part of it: fewer generated cases, and chunks that are not quite as small. Each test still runs.
 * More than 1 generates more cases.
 */
const EFFORT = Number(process.env.WHARF_TEST_EFFORT ?? 1);

/** Where generated cases that are the same in each run begin. WHARF_TEST_SEED begins elsewhere, to look for faults. */
export const seed = (usual: number): number => Number(process.env.WHARF_TEST_SEED ?? usual);

/** How many generated cases to try, and at least `least` of them. */
export const runs = (most: number, least = 20): number => Math.max(Math.min(most, least), Math.round(most * EFFORT));

/** Bytes in a chunk: as asked, or at least 64 where there is no time for byte by byte. */
export const chunkSize = (asked: number): number => (EFFORT < 1 ? Math.max(asked, 64) : asked);

/** How far apart to try the places where input may be cut in two. */
export const cutStep = (asked: number): number => (EFFORT < 1 ? asked * 37 : asked);
