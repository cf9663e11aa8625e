import { countText, sizeText } from '../../policy/amounts.js';
import type { ConsoleUser } from '../../ports/console.js';
import { type AuditLine, type AuditPage as Found, WHATS } from './audit-search.js';
import { ConsoleLayout, Table, Told, timeOf } from './console-layout.js';
import { ProblemText } from './problem.js';

/** The filter as its form spells it. */
export type Written = Readonly<Record<string, string>>;

interface FormProps {
  user: ConsoleUser;
  written: Written;
  servers: readonly string[];
}

interface FoundProps extends FormProps {
  found: Found;
  next: string | undefined;
  csv: string;
  problems?: undefined;
}

/** Nothing is searched by what cannot be read. */
interface WrongProps extends FormProps {
  /** By the names of the fields. */
  problems: ReadonlyMap<string, string>;
}

/** The audit log of this process: searched, and as a table for a spreadsheet. */
export function AuditPage(props: FoundProps | WrongProps) {
  const { user, written, servers, problems } = props;
  return (
    <ConsoleLayout place="/audit" user={user}>
      <form method="get" action="/audit" class="search">
        <Text name="principal" label="Who" written={written} />
        <Text name="tool" label="Tool" written={written} />
        <Choice name="server" label="Server" options={servers} written={written} />
        <Choice name="what" label="What" options={WHATS} written={written} />
        <Choice name="outcome" label="Outcome" options={['allowed', 'refused']} written={written} />
        <Text name="actor" label="Operator" written={written} />
        <Time name="from" label="From (UTC)" written={written} isWrong={problems?.has('from')} />
        <Time name="until" label="Until (UTC)" written={written} isWrong={problems?.has('until')} />
        <button type="submit">Search</button>
      </form>
      {problems ? (
        [...problems.values()].map((text) => <ProblemText text={`${text}.`} todo={undefined} />)
      ) : (
        <FoundLines {...props} />
      )}
    </ConsoleLayout>
  );
}

function FoundLines({ found, next, csv }: FoundProps) {
  return (
    <>
      <p class="soft">
        What this process has written, the newest first; another replica has a log of its own.{' '}
        {countText(found.looked, 'line was', 'lines were')} looked at. <a href={csv}>As CSV</a>
      </p>
      <Table
        name="Audit log"
        heads={['When', 'What', 'Outcome', 'Who', 'Server', 'Of what', 'Files']}
        none="Nothing fits."
        rows={found.lines.map((line) => <Row line={line} />)}
      />
      {next !== undefined && (
        <p>
          <a href={next}>Older</a>
        </p>
      )}
    </>
  );
}

/** Where there is nothing to read. */
export function NoAuditPage({ user, use }: { user: ConsoleUser; use: string }) {
  return (
    <ConsoleLayout place="/audit" user={user}>
      {use === 'none' ? (
        <p>
          No audit log is kept. Set <code>{'audit: { use: file, path: /var/lib/wharf/audit/audit.jsonl }'}</code>
        </p>
      ) : (
        <p>
          The audit log goes to <code>{use}</code>, where Wharf cannot read it: look where it is collected.
        </p>
      )}
    </ConsoleLayout>
  );
}

function Text({ name, label, written }: { name: string; label: string; written: Written }) {
  return (
    <label>
      {label}
      <input type="text" name={name} value={written[name] ?? ''} maxlength={200} autocomplete="off" />
    </label>
  );
}

/** What a browser cannot show as a time stays as it was written. */
function Time({
  name,
  label,
  written,
  isWrong = false,
}: {
  name: string;
  label: string;
  written: Written;
  isWrong: boolean | undefined;
}) {
  return (
    <label>
      {label}
      <input
        type={isWrong ? 'text' : 'datetime-local'}
        step={isWrong ? undefined : '1'}
        name={name}
        value={written[name] ?? ''}
        maxlength={200}
        aria-invalid={isWrong ? 'true' : undefined}
      />
    </label>
  );
}

function Choice({
  name,
  label,
  options,
  written,
}: {
  name: string;
  label: string;
  options: readonly string[];
  written: Written;
}) {
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">any</option>
        {options.map((option) => (
          <option value={option} selected={written[name] === option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

function Row({ line }: { line: AuditLine }) {
  const { time, what, principal, server, from, to, files = [] } = line;
  const isMove = from !== undefined || to !== undefined;
  return (
    <tr>
      <td>
        <time datetime={time}>{timeOf(time)}</time>
      </td>
      <td>{what}</td>
      <Decision line={line} />
      <Caller line={line} />
      <td>
        <Told text={isMove ? `${from ?? principal ?? ''} → ${to ?? principal ?? ''}` : server} />
      </td>
      <Subject line={line} />
      <Files files={files} />
    </tr>
  );
}

function Decision({ line: { allowed, code, rule, count, outcome, scan } }: { line: AuditLine }) {
  return (
    <td class={allowed ? 'good' : 'bad'}>
      {allowed ? 'allowed' : 'refused'}
      {(code ?? rule) !== undefined && (
        <>
          <br />
          {code !== undefined && <code class="whole">{code}</code>}
          {code !== undefined && rule !== undefined && <br />}
          {rule !== undefined && <code>{rule}</code>}
        </>
      )}
      {count !== undefined && <div>{count} more</div>}
      {outcome !== undefined && <div class="soft">{outcome}</div>}
      {scan && <div class="soft">{[scan.verdict, scan.signature].filter(Boolean).join(': ')}</div>}
    </td>
  );
}

function Caller({ line: { principal, actor, client, address } }: { line: AuditLine }) {
  return (
    <td>
      {principal === undefined && actor === undefined ? 'unknown' : <Told text={principal} />}
      {actor !== undefined && <div>by {actor}</div>}
      <div class="soft">
        <Told text={client} />
        {client !== undefined && address !== undefined && ', '}
        {address}
      </div>
    </td>
  );
}

/** What it was about, and with which token. */
function Subject({ line: { tool, subject, method, token, reason } }: { line: AuditLine }) {
  return (
    <td>
      <Told text={tool ?? subject} />
      {method !== undefined && tool === undefined && (
        <div class="soft">
          <Told text={method} />
        </div>
      )}
      {token && (
        <div class="soft">
          <Told text={token.client} /> {token.claimed && '(claimed) '}
          <Told text={token.id} />
        </div>
      )}
      {reason}
    </td>
  );
}

function Files({ files }: { files: NonNullable<AuditLine['files']> }) {
  return (
    <td>
      {files.slice(0, 3).map(({ digest, size }) => (
        <div>
          <code>{digest?.slice(0, 12)}</code> <span class="soft">{sizeText(size)}</span>
        </div>
      ))}
      {files.length > 3 && <span class="soft">and {files.length - 3} more</span>}
    </td>
  );
}
