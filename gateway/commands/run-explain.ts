import { accessRulesOf, allowanceRulesOf, keysOf } from '../config/access.js';
import type { AdapterList } from '../config/adapter-list.js';
import type { Config } from '../config/config.js';
import { limitRows } from '../config/limit-rows.js';
import { loadConfig } from '../config/load.js';
import { nearest } from '../config/mistakes/nearest.js';
import { serversNamed, writtenNames } from '../config/server-name.js';
import { callerOf, explainAccess, ownNameOf, unknownCaller } from '../explain/access.js';
import { catalogueMarkdown, catalogueText, ERROR_CODES, explainError, isErrorCode } from '../explain/catalogue.js';
import { clientOf, explainHost } from '../explain/host.js';
import { explainLimits } from '../explain/limits.js';
import { Hosts, hostNamed } from '../hosts/hosts.js';
import { ToolLimits } from '../policy/tool-limits.js';
import { print, printError } from '../print.js';
import { problemsText } from '../report.js';
import type { ExplainAccess, ExplainAction, ExplainClient, ExplainErrors } from './explain-command.js';

/** Runs `wharf explain`. @returns the exit code */
export async function runExplain(action: ExplainAction, adapters: AdapterList): Promise<number> {
  switch (action.kind) {
    case 'explain':
      return aboutErrors(action);
    case 'explain-client':
      return aboutClient(action, adapters);
    case 'explain-access':
      return aboutAccess(action, adapters);
  }
}

function aboutErrors({ code, format }: ExplainErrors): number {
  if (format === 'markdown') {
    print(catalogueMarkdown());
    return 0;
  }
  if (code !== undefined && !isErrorCode(code)) {
    const near = nearest(code, ERROR_CODES);
    const next = near === undefined ? '"wharf explain" lists them.' : `Did you mean ${near}?`;
    printError(`There is no error called ${JSON.stringify(code)}. ${next}\n`);
    return 1;
  }
  print(code === undefined ? catalogueText() : explainError(code));
  return 0;
}

async function aboutClient({ client, file, principal }: ExplainClient, adapters: AdapterList): Promise<number> {
  const loaded = file === undefined ? undefined : await loadConfig({ file }, adapters);
  if (loaded && !loaded.ok) {
    printError(problemsText(loaded.problems));
    return 1;
  }
  const hosts = new Hosts(adapters.hosts, loaded?.config.clients ?? []);
  const found = hosts.find(clientOf(client), principal);
  const isKnown = found.profile !== undefined || found.entry !== undefined;
  const named = isKnown ? found : hostNamed(client, adapters.hosts);
  const names = adapters.hosts.flatMap(({ name, match }) => [
    name,
    ...match.names.map((one) => one.replaceAll('*', '')),
  ]);
  const near = named === undefined ? nearest(clientOf(client).name, names) : undefined;
  print(explainHost(client, named ?? found, adapters.hosts, near));
  return 0;
}

async function aboutAccess({ file, server, ...asked }: ExplainAccess, adapters: AdapterList): Promise<number> {
  const loaded = await loadConfig({ file }, adapters);
  if (!loaded.ok) {
    printError(problemsText(loaded.problems));
    return 1;
  }
  const { config } = loaded;
  const [found] = serversNamed(config.servers, server);
  if (!found) {
    printError(
      `There is no server called ${JSON.stringify(server)}; the config has: ${writtenNames(config.servers)}\n`,
    );
    return 1;
  }
  const question = { ...asked, server: found.name };
  const keys = keysOf(config.auth).map((key) => key.name);
  const unknown = unknownCaller(question, keys, config.auth.use);
  if (unknown !== undefined) {
    const near = nearest(unknown, keys);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    printError(`There is no key called ${JSON.stringify(unknown)} in auth.keys.${hint}\n`);
    return 1;
  }
  const caller = callerOf(question, keys);
  const host =
    asked.client === undefined ? undefined : limitsOfHost(asked.client, caller.principal, config.clients, adapters);
  print(explainAccess(question, caller, accessRulesOf(config), found.tools));
  const limited = {
    ...{ name: found.name, limits: found.limits, global: config.limits },
    isSet: (path: string) => config.sources.has(path),
  };
  const own = ownNameOf(asked.tool, found.tools);
  const set = own === undefined ? undefined : new ToolLimits(found.name, found.tools).of(own);
  const tool = own !== undefined && set ? { name: own, set } : undefined;
  print(explainLimits(caller, allowanceRulesOf(config), limited, { host, tool }));
  print(limitRows(found, config, own));
  return 0;
}

/** What a config says about the limits of a client, by its name as on the command line. */
function limitsOfHost(
  client: string,
  principal: string | undefined,
  clients: Config['clients'],
  { hosts }: AdapterList,
) {
  const { entry } = new Hosts(hosts, clients).find(clientOf(client), principal);
  return entry?.limits && { limits: entry.limits, place: `clients[${clients.indexOf(entry)}].limits` };
}
