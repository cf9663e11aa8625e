import { sizeText } from '../../policy/amounts.js';
import type { ConsoleUser } from '../../ports/console.js';
import { ConsoleLayout, Table, timeOf } from './console-layout.js';
import type { Overview } from './facts.js';
import type { RefusedExchange } from './lately.js';
import { REFUSED_HEADS, RefusedRow } from './refusals-page.js';

interface Props {
  user: ConsoleUser;
  overview: Overview;
  /** The newest refusals. */
  lately: readonly RefusedExchange[];
}

/** The first page: what is wrong now, what is in use, what was refused. */
export function OverviewPage({ user, overview, lately }: Props) {
  const { status, problems, now, since, limits, version, gatewayId, publicUrl, startedAt } = overview;
  const isWell = status === 'ready' && problems.length === 0;
  return (
    <ConsoleLayout place="/" user={user}>
      <div class={isWell ? 'banner' : 'banner wrong'}>
        <p>
          <strong>{isWell ? 'Everything works' : status === 'ready' ? 'Works, with faults' : `It is ${status}`}</strong>
        </p>
        {problems.length > 0 && (
          <ul>
            {problems.map(({ part, cause }) => (
              <li>
                {part}: {cause}
              </li>
            ))}
          </ul>
        )}
      </div>
      <p class="soft">
        Wharf {version}, <code>{gatewayId}</code> at {publicUrl}, since{' '}
        <time datetime={startedAt}>{timeOf(startedAt)}</time>
      </p>
      <h2>In use now</h2>
      <ul class="tiles">
        {now.map(({ name, value, limit, unit }) => (
          <li>
            <b>{unit === 'bytes' ? sizeText(value) : value}</b>
            {name}
            {limit !== undefined && <span class="soft"> of {unit === 'bytes' ? sizeText(limit) : limit}</span>}
          </li>
        ))}
      </ul>
      <h2>Since the start</h2>
      <ul class="tiles">
        <li>
          <b>{since.exchanges}</b>exchanges
        </li>
        <li>
          <b>{since.failed}</b>of them failed or were refused
        </li>
        <li>
          <b>{since.files}</b>files taken out of messages
        </li>
        <li>
          <b>{sizeText(since.fileBytes)}</b>kept out of contexts
        </li>
      </ul>
      <h2>Limits that ended requests</h2>
      <Table
        name="Limits that ended requests"
        heads={['Limit', 'Times']}
        none="None since the start."
        rows={limits.map(({ limit, count }) => (
          <tr>
            <td>
              <code>{limit}</code>
            </td>
            <td>{count}</td>
          </tr>
        ))}
      />
      <h2>Refused lately</h2>
      <Table
        name="Refused lately"
        heads={REFUSED_HEADS}
        none="Nothing."
        rows={lately.map((refused) => <RefusedRow refused={refused} />)}
      />
    </ConsoleLayout>
  );
}
