import type { Limits } from '../policy/limits.js';
import type { Config, ServerConfig } from './config.js';
import { formatSize } from './schema/units.js';

/** Limits of messages and files that a server may lower. */
const SIZES = ['message', 'response', 'inlineImage', 'inlineOther', 'inlineResource', 'inlineArgument'] as const;
const COUNTS = ['files', 'filesPerArgument', 'processes', 'connections'] as const;

/**
 * The limits that apply to every caller of a server, each with its value and the place in the config that sets it, as
 * lines for people.
 * @param tool the server's own name of a tool, whose file arguments are told too
 */
export function limitRows(server: ServerConfig, { limits }: Pick<Config, 'limits'>, tool: string | undefined): string {
  const sourceOf = (name: keyof Limits) =>
    server.limits[name] < limits[name] ? `servers.${server.name}.limits.${name}` : `limits.${name}`;
  const files = tool !== undefined && Object.hasOwn(server.tools, tool) ? (server.tools[tool]?.files ?? []) : [];
  const rows = [
    ...SIZES.map((name) => `${name}: ${formatSize(server.limits[name])}, by ${sourceOf(name)}`),
    ...COUNTS.map((name) => `${name}: ${server.limits[name]}, by ${sourceOf(name)}`),
    `accepts: ${formatSize(server.accepts)}, by servers.${server.name}.accepts`,
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
