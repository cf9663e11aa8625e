import type { ConsoleUser, Setting } from '../../ports/console.js';
import { toneOf } from '../part-state.js';
import { ConsoleLayout, mayAct, Table, Told, timeOf } from './console-layout.js';
import type { ServerFacts, SessionFacts } from './facts.js';

/** Where a server's own page is. */
export const serverPath = (server: string): string => `/servers/${encodeURIComponent(server)}`;

/** Where a tool is tried. */
export const toolPath = (server: string, tool: string): string =>
  `${serverPath(server)}/try?${new URLSearchParams({ tool })}`;

/** The servers, and whether they can be reached. */
export function ServersPage({ user, servers }: { user: ConsoleUser; servers: readonly ServerFacts[] }) {
  return (
    <ConsoleLayout place="/servers" user={user}>
      <Table
        name="Servers"
        heads={['Server', 'State', 'Transport', 'Sessions', 'MCP URL']}
        none="There is none."
        rows={servers.map(({ name, state, transport, sessions, url }) => (
          <tr>
            <td>
              <a href={serverPath(name)}>{name}</a>
            </td>
            <td class={toneOf(state)}>{state}</td>
            <td>{transport}</td>
            <td>{sessions}</td>
            <td>
              <code>{url}</code>
            </td>
          </tr>
        ))}
      />
    </ConsoleLayout>
  );
}

/** Characters of a client's name and version: a name without end leaves the sessions below it in sight. */
const MOST_OF_CLIENT = 80;

/** The sessions that this process knows; an operator may end one. */
export function SessionsPage({
  user,
  sessions,
  more,
}: {
  user: ConsoleUser;
  sessions: readonly SessionFacts[];
  more: number;
}) {
  return (
    <ConsoleLayout place="/sessions" user={user}>
      <p class="soft">Those that this process knows, the last used first. Another replica may know more.</p>
      <Table
        name="Sessions"
        heads={['Last used', 'Server', 'Who', 'Client', 'MCP', 'Session', ...(mayAct(user) ? ['Action'] : [])]}
        none="There is none."
        rows={sessions.map(({ usedAt, server, principal, client, version, tag }) => (
          <tr>
            <td>
              <time datetime={usedAt}>{timeOf(usedAt)}</time>
            </td>
            <td>{server}</td>
            <td>
              <Told text={principal} />
            </td>
            <td>
              <Told text={client} most={MOST_OF_CLIENT} />
            </td>
            <td>
              <span class="whole">{version}</span>
            </td>
            <td>
              <code>{tag}</code>
            </td>
            {mayAct(user) && (
              <td>
                <form method="post" action="/sessions/end">
                  <input type="hidden" name="session" value={tag} />
                  <button type="submit" class="second" aria-label={`End session ${tag}`}>
                    End
                  </button>
                </form>
              </td>
            )}
          </tr>
        ))}
      />
      {more > 0 && <p class="soft">And {more} more.</p>}
    </ConsoleLayout>
  );
}

/** The settings in force, without secrets. */
export function ConfigPage({ user, settings }: { user: ConsoleUser; settings: readonly Setting[] }) {
  return (
    <ConsoleLayout place="/config" user={user}>
      <p class="soft">What is in force, and where it comes from. Secrets are left out.</p>
      <Table
        name="Settings"
        heads={['Setting', 'Value', 'From']}
        none="There is none."
        rows={settings.map(({ path, value, source }) => (
          <tr>
            <td>
              <code>{path}</code>
            </td>
            <td>
              <code>{value}</code>
            </td>
            <td class={source === 'default' ? 'soft' : ''}>{source}</td>
          </tr>
        ))}
      />
    </ConsoleLayout>
  );
}
