import { countText } from '../../policy/amounts.js';
import { passedText } from '../../policy/passed-limit.js';
import type { ConsoleUser } from '../../ports/console.js';
import { ConsoleLayout, Table, Told, timeOf } from './console-layout.js';
import type { RefusedExchange } from './lately.js';

export const REFUSED_HEADS = ['When', 'Server', 'Who', 'What', 'Why', 'Limit'] as const;

/** One refusal; equal ones are one row, with their number and the time of the first. */
export function RefusedRow({ refused }: { refused: RefusedExchange }) {
  const { at, times, since, server, principal, client, method, name, code, limit, rule, allowed } = refused;
  const [when, first] = [at, since].map((ms) => new Date(ms).toISOString()) as [string, string];
  return (
    <tr>
      <td>
        <time datetime={when}>{timeOf(when)}</time>
        {times > 1 && (
          <span class="soft">
            <br />
            {countText(times, 'time')} since <time datetime={first}>{timeOf(first)}</time>
          </span>
        )}
      </td>
      <td>{server ?? '–'}</td>
      <td>
        {principal || 'unknown'}
        {client !== undefined && (
          <span class="soft">
            {' by '}
            <Told text={client} />
          </span>
        )}
      </td>
      <td>
        {method === undefined && name === undefined && '–'}
        <Told text={method} /> <Told text={name} />
      </td>
      <td>
        <code class="whole">{code}</code>
      </td>
      <td>
        {limit !== undefined && <code>{limit}</code>}
        {allowed !== undefined && ` ${passedText(refused)}`}
        {rule !== undefined && rule !== limit && (
          <span class="soft">
            {limit !== undefined && <br />}
            {'by '}
            <Told text={rule} />
          </span>
        )}
      </td>
    </tr>
  );
}

/** The last refusals of this process. */
export function RefusalsPage({ user, lately }: { user: ConsoleUser; lately: readonly RefusedExchange[] }) {
  return (
    <ConsoleLayout place="/refusals" user={user}>
      <p class="soft">
        Requests of clients to servers, and uploads, that this process refused, the last 200 of different kinds; the log
        has each of them, and also the downloads. <code>wharf explain CODE</code> says why each occurs and what to do.
      </p>
      <Table
        name="Refusals"
        heads={REFUSED_HEADS}
        none="No request to a server and no upload was refused since the start."
        rows={lately.map((refused) => <RefusedRow refused={refused} />)}
      />
    </ConsoleLayout>
  );
}
