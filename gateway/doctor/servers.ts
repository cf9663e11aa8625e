import type { AdapterDeps, AdapterList } from '../config/adapter-list.js';
import type { Config, ServerConfig } from '../config/config.js';
import { INHERITED_WORDS } from '../inherited-env.js';
import { hasStatus, isForPersons, toolsWithToken } from '../inspect/with-token.js';
import { own } from '../json/value.js';
import { countText } from '../policy/amounts.js';
import { fitsAny } from '../policy/pattern.js';
import type { OAuth } from '../ports/oauth.js';
import type { Check } from './check.js';
import type { Open } from './stores.js';

/** Most hosts refuse a session whose tools have longer names. */
const MOST_NAME = 64;
/** Cursor leaves out a tool whose name is longer together with its server's. */
const MOST_WITH_SERVER = 60;

interface Asking {
  adapters: AdapterList;
  deps: AdapterDeps;
  oauth: Open<OAuth>;
}

/** Hands shakes with each server, and asks for its tools. */
export function serverChecks(
  { servers, auth }: Pick<Config, 'servers' | 'auth'>,
  { adapters, deps, oauth }: Asking,
): Check[] {
  return servers.map((server) => ({
    group: 'servers',
    title: server.name,
    todo:
      server.transport === 'stdio'
        ? `Run its command by itself (under Wharf it has only ${INHERITED_WORDS}, and what --env or "env" names); "wharf inspect", with what "wharf doctor" was given, shows more.`
        : 'Look whether an MCP server runs at its URL, whose path is often /mcp or /sse; "wharf inspect", with what "wharf doctor" was given, shows more.',
    run: async (signal) => {
      const asked = { ...deps, limits: server.limits, log: deps.log.child({ server: server.name }), name: server.name };
      const names: string[] = [];
      try {
        for await (const page of toolsWithToken(server, oauth, { adapters, deps: asked, signal }))
          for (const { name } of page) names.push(String(name));
      } catch (error) {
        if (auth.use === 'passthrough' && hasStatus(error, 401)) {
          const text = `${server.transport}; it refuses a call without a token, as it should: callers log in there`;
          return { state: 'ok', text };
        }
        if (!isForPersons(error, server)) throw error;
        return {
          state: 'skipped',
          text: `${server.transport}; it answers, and shows its tools to callers who have logged in`,
        };
      }
      const text = `${server.transport}, ${countText(names.length, 'tool')}`;
      const all = new Set(names);
      const unknown = Object.keys(server.tools).find((pattern) => !fitsAny(pattern, all));
      if (unknown !== undefined) {
        const todo = `Correct servers.${server.name}.tools, or remove it there.`;
        return { state: 'warning', text: `${text}; the config names a tool ${unknown}, which it does not have`, todo };
      }
      const long = longName(names, server);
      return long ? { state: 'warning', text: `${text}; ${long.text}`, todo: long.todo } : { state: 'ok', text };
    },
  }));
}

/** The first tool, as clients see it, whose name is too long for some host. */
function longName(
  names: readonly string[],
  { name: server, tools }: Pick<ServerConfig, 'name' | 'tools'>,
): { text: string; todo: string } | undefined {
  const shown = names.map((name) => own(tools, name)?.name ?? name);
  const all = shown.find((name) => name.length > MOST_NAME);
  const todo = `Give it a shorter name: servers.${server}.tools.TOOL.name.`;
  if (all !== undefined) {
    const text = `a name has ${all.length} characters: ${JSON.stringify(all.slice(0, 80))}`;
    return { text, todo: `Some hosts end a session that has such a tool. ${todo}` };
  }
  const some = shown.find((name) => name.length + server.length > MOST_WITH_SERVER);
  if (some === undefined) return undefined;
  const text = `a name has ${some.length + server.length} characters with its server's: ${JSON.stringify(some)}`;
  return { text, todo: `Cursor leaves out such a tool, of more than ${MOST_WITH_SERVER}. ${todo}` };
}
