import { isIP } from 'node:net';
import { basename } from 'node:path';

/** Programs that run another program; the server's name follows them. */
export const RUNNERS =
  /^(npx|npm|pnpm|yarn|bunx?|deno|node|uvx?|pipx|python[\d.]*|docker|podman|env|exec|run|dlx|tool)$/;
const FALLBACK = 'default';

/** A free name as a path segment: `My Files` becomes `my-files`. Empty when no character of it is usable. */
export function pathName(name: string): string {
  const dashed = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return dashed.slice(0, 64).replace(/^-|-$/g, '');
}

interface Named {
  name: string;
  hostName?: string;
}

/** The servers with a name: their own, or the one in the host's file. */
export function serversNamed<Server extends Named>(servers: readonly Server[], name: string): Server[] {
  return servers.filter((server) => server.name === name || server.hostName === name);
}

/** The names of servers as the author of the config knows them. */
export function writtenNames(servers: readonly Named[]): string {
  return servers.map(({ name, hostName }) => hostName ?? name).join(', ');
}

/** `npx -y @modelcontextprotocol/server-filesystem /data` is `server-filesystem`, `node ocr.js` is `ocr`. */
export function nameOfCommand(command: readonly string[]): string {
  const word = command.find((part) => !part.startsWith('-') && !/^\w+=/.test(part) && !RUNNERS.test(basename(part)));
  if (word === undefined) return FALLBACK;
  // A package may have a version (`name@1.2`), a program an extension (`ocr.js`).
  const bare = basename(word)
    .replace(/@.*$/s, '')
    .replace(/\.\w{1,4}$/, '');
  return usable(pathName(bare));
}

/** The host if it has a name of its own, otherwise `default`: a loopback address does not identify a server. */
export function nameOfUrl(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return isIP(host) || host.startsWith('[') || host === 'localhost' ? FALLBACK : usable(pathName(host));
}

// `index` and `server` are among the common names of a main file; `d` and `u` are Wharf's own paths.
function usable(name: string): string {
  return name.length < 2 || /^(index|main|server|cli|start|bin|stdio|app)$/.test(name) ? FALLBACK : name;
}
