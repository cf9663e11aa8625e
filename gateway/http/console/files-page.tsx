import type { FileFilter, FilePage } from '../../files/control/control.js';
import type { FileRecord } from '../../files/file.js';
import { sizeText } from '../../policy/amounts.js';
import type { ConsoleUser } from '../../ports/console.js';
import { ConsoleLayout, mayAct, Table, Told, timeOf } from './console-layout.js';

/** What a form of the page does with a file. */
export const FILE_ACTIONS = ['revoke', 'hold', 'release', 'remove'] as const;
export type FileAction = (typeof FILE_ACTIONS)[number];

/** What nothing undoes asks twice, without a script: what is gone then. */
const FOR_GOOD: Readonly<Partial<Record<FileAction, string>>> = {
  revoke: 'Its links and its handle stop working.',
  remove: 'Its bytes are gone.',
};

interface Props {
  user: ConsoleUser;
  filter: Pick<FileFilter, 'principal' | 'server' | 'digest'>;
  found: FilePage;
  /** The query of this page, to which a change leads back. */
  query: string;
  /** Address of the next page. */
  next: string | undefined;
  /** Why nothing can be found by what was asked for. */
  problem?: string | undefined;
}

/** What may be done with a file as it is now. */
function actionsFor({ revokedAt, heldAt }: FileRecord): FileAction[] {
  return [
    ...(revokedAt === undefined ? ['revoke' as const] : []),
    ...(heldAt === undefined ? ['hold' as const, 'remove' as const] : ['release' as const]),
  ];
}

function stateOf({ revokedAt, heldAt, scan }: FileRecord): string {
  const states = [revokedAt !== undefined && 'revoked', heldAt !== undefined && 'held', scan].filter(Boolean);
  return states.join(', ') || 'readable';
}

/** Stored files: searched by what is known of them; an operator may end their links, keep them, or remove them. */
export function FilesPage({ user, filter, found, query, next, problem }: Props) {
  return (
    <ConsoleLayout place="/stored" user={user}>
      <form method="get" action="/stored" class="search">
        {(['principal', 'server', 'digest'] as const).map((name) => (
          <label>
            {name === 'principal' ? 'Who' : name === 'server' ? 'Server' : 'Digest'}
            <input type="text" name={name} value={filter[name] ?? ''} maxlength={1024} autocomplete="off" />
          </label>
        ))}
        <button type="submit">Search</button>
      </form>
      <p class="soft">
        A revoked file is gone for every link of Wharf's and every handle at once, on all replicas; a presigned link
        works until it expires. A held file is neither swept nor removed. Files are listed by their ids, which are
        random.
      </p>
      <Table
        name="Files"
        heads={['Stored', 'File', 'Who', 'From', 'State', ...(mayAct(user) ? ['Action'] : [])]}
        none={problem ?? (next === undefined ? 'There is none.' : 'There is none among those looked at so far.')}
        rows={found.files.map((file) => (
          <FileRow file={file} change={mayAct(user) ? `/stored/change?${query}` : undefined} />
        ))}
      />
      {next !== undefined && (
        <p>
          <a href={next}>More</a>
        </p>
      )}
    </ConsoleLayout>
  );
}

/** @param change where the form leads of one who may act */
function FileRow({ file, change }: { file: FileRecord; change: string | undefined }) {
  const { id, name, size, mimeType, principal, server, tool, createdAt } = file;
  const stored = new Date(createdAt).toISOString();
  return (
    <tr>
      <td>
        <time datetime={stored}>{timeOf(stored)}</time>
      </td>
      <td>
        <Told text={name} />
        <br />
        <span class="soft">
          {sizeText(size)}, {mimeType}
        </span>
        <br />
        <code>{id}</code>
      </td>
      <td>
        <Told text={principal} />
      </td>
      <td>
        {server ?? 'an upload'}
        {server !== undefined && tool !== undefined && (
          <>
            .<Told text={tool} />
          </>
        )}
      </td>
      <td>{stateOf(file)}</td>
      {change !== undefined && (
        <td>
          <form method="post" action={change}>
            <input type="hidden" name="id" value={id} />
            {actionsFor(file).map((action) => (
              <Action action={action} name={name} />
            ))}
          </form>
        </td>
      )}
    </tr>
  );
}

function Action({ action, name }: { action: FileAction; name: string }) {
  const gone = FOR_GOOD[action];
  const button = (text: string) => (
    <button type="submit" name="action" value={action} class="second" aria-label={`${text} ${name}`}>
      {text}
    </button>
  );
  if (gone === undefined) return button(action);
  return (
    <details>
      <summary aria-label={`${action} ${name} …`}>{action} …</summary>
      <p class="soft">{gone}</p>
      {button(`${action} for good`)}
    </details>
  );
}
