import type { AdapterDeps, AdapterList } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { toolsOf } from '../inspect/tools.js';
import type { Check } from './check.js';

/** Most hosts refuse a session whose tools have longer names. */
const MOST_NAME = 64;

/** Hands shakes with each server, and asks for its tools. */
export function serverChecks(servers: readonly ServerConfig[], adapters: AdapterList, deps: AdapterDeps): Check[] {
  return servers.map((server) => ({
    group: 'servers',
    title: server.name,
    todo:
      server.transport === 'stdio'
        ? `Run its command by itself; "wharf inspect --config FILE ${server.name}" shows more.`
        : `Look whether an MCP server runs at its URL; "wharf inspect --config FILE ${server.name}" shows more.`,
    run: async (signal) => {
      const own = { ...deps, limits: server.limits, log: deps.log.child({ server: server.name }), name: server.name };
      const names: string[] = [];
      for await (const page of toolsOf(server, { adapters, deps: own, signal }))
        for (const { name } of page) names.push(String(name));
      const text = `${server.transport}, ${names.length} tools`;
      const long = names.find((name) => name.length > MOST_NAME);
      const unknown = Object.keys(server.tools).find((name) => !names.includes(name));
      if (unknown !== undefined) {
        const todo = `Correct servers.${server.name}.tools, or remove it there.`;
        return { state: 'warning', text: `${text}; the config names a tool ${unknown}, which it does not have`, todo };
      }
      if (long === undefined) return { state: 'ok', text };
      const todo = 'Some hosts end a session that has such a tool. Give it a shorter name.';
      return { state: 'warning', text: `${text}; a name has ${long.length} characters: ${long.slice(0, 80)}`, todo };
    },
  }));
}
