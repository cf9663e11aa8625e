import type { JsonPath } from '../../ports/json.js';
import { HOST_KEYS, OWN_KEYS } from './host-keys.js';
import { nearest } from './nearest.js';

/** Keys that Wharf does not know, and what to write instead. */

/** The keys that the map at a path may have. */
export type KnownKeys = (path: JsonPath) => readonly string[];

/** Keys at the top of the files of other programs. */
const FILES: Readonly<Record<string, string>> = {
  extensions: "Goose's config.yaml",
  context_servers: "Zed's settings.json",
  mcp: "VS Code's settings.json",
  mcp_servers: "Codex's config.toml",
  inputs: "VS Code's mcp.json",
};

/** No-break spaces, a byte order mark and others that look like a space, or like nothing. */
const ODD_BLANK = /[^\S \t\r\n]|[\u200b\ufeff]/;

/** Phrased to follow the path of the key. */
export function adviceOnKey(path: JsonPath, key: string, knownKeys: KnownKeys): string {
  const known = knownKeys(path);
  if (ODD_BLANK.test(key)) return 'has a blank that is not a space, as pages have it: write it anew, with spaces';
  if (path.length === 0 && Object.hasOwn(FILES, key)) {
    return `is not a known key: it is one of ${FILES[key]}. Here it is servers: { NAME: { url: … } or { command: […] } }`;
  }
  // of a host's file, which is read otherwise than Wharf's own
  if (path.length === 0 && key.toLowerCase() === 'mcpservers') return 'is not a known key; did you mean "mcpServers"?';
  const isOfServer = path.length === 2 && path[0] === 'servers';
  if (isOfServer && known.includes('command')) {
    if (key === 'url') return 'is not a known key beside "command": a server has one of them';
    // as in a host's file
    if (key === 'args') return 'is not a known key; arguments are further items of command';
  }
  if (isOfServer && [...HOST_KEYS, ...OWN_KEYS].includes(key)) {
    return 'is not a known key: hosts have it. In a file with "mcpServers" in place of "servers" Wharf reads it as they do';
  }
  return tooFarLeft(path, key, knownKeys) ?? unlike(key, known);
}

/** Of a key that a map beside it has. */
function tooFarLeft(path: JsonPath, key: string, knownKeys: KnownKeys): string | undefined {
  const known = knownKeys(path);
  const owner = known.find((name) => knownKeys([...path, name]).includes(key));
  if (owner === undefined || nearest(key, known) !== undefined) return undefined;
  return `is not a known key here; as a key of ${owner} it must stand below that, further to the right`;
}

function unlike(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  const hint = near === undefined ? `known here: ${known.join(', ') || 'none'}` : `did you mean "${near}"?`;
  return `is not a known key; ${hint}`;
}
