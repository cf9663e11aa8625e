import { placeText } from '../explain/place-text.js';
import type { Limits } from '../policy/limits.js';
import { formatSize } from '../policy/units.js';
import type { Config, ServerConfig } from './config.js';

/** Limits of the server itself. `wharf explain` prints those of its messages with the caller's. */
const COUNTS = ['processes', 'connections'] as const;

/**
 * The limits that apply to every caller of a server, each with its value and the place in the config that sets it, as
 * lines for people.
 * @param tool the server's own name of a tool, whose file arguments are told too
 */
export function limitRows(
  server: ServerConfig,
  { limits, sources }: Pick<Config, 'limits' | 'sources'>,
  tool: string | undefined,
): string {
  const textOf = (path: string) => placeText(path, (one) => sources.has(one));
  const sourceOf = (name: keyof Limits) =>
    server.limits[name] < limits[name] ? `servers.${server.name}.limits.${name}` : textOf(`limits.${name}`);
  const files = tool !== undefined && Object.hasOwn(server.tools, tool) ? (server.tools[tool]?.files ?? []) : [];
  const rows = [
    ...COUNTS.map((name) => `${name}: ${server.limits[name]}, by ${sourceOf(name)}`),
    `accepts: ${formatSize(server.accepts)}, by ${textOf(`servers.${server.name}.accepts`)}`,
    ...files.flatMap(({ path, maxSize, accept }) => {
      const at = `servers.${server.name}.tools.${tool}.files.${path}`;
      return [
        ...(maxSize === undefined ? [] : [`${path}: ${formatSize(maxSize)}, by ${at}.maxSize`]),
        ...(accept === undefined ? [] : [`${path}: ${accept.join(', ')}, by ${at}.accept`]),
      ];
    }),
  ];
  return `Those of the server:\n${rows.map((row) => `  ${row}\n`).join('')}`;
}
