import { join } from 'node:path';

/** The repository's root, seen from `dist/test/bench/lib`. */
export const ROOT = join(import.meta.dirname, '../../../..');
export const BENCH_DIRECTORY = join(ROOT, 'test/bench');
export const PEERS_DIRECTORY = join(BENCH_DIRECTORY, '.peers');
export const GATEWAY_SCRIPT = join(ROOT, 'dist/gateway/main.js');

/** A compiled script of `servers/`. */
export const serverScript = (name: string) => join(import.meta.dirname, '../servers', `${name}.js`);

/** Command lines that belong to the bench itself: a stdio server is not part of the gateway that starts it. */
export const OWN_SERVERS = /bench\/servers\/(?:fast|file)-/;
export const APT_SCRIPT = join(ROOT, 'deploy/test-services/apt.sh');
