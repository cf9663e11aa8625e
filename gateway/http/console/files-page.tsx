import type { FileFilter, FilePage } from '../../files/control/control.js';
import type { FileRecord } from '../../files/file.js';
import { sizeText } from '../../policy/amounts.js';
import type { ConsoleUser } from '../../ports/console.js';
import { ConsoleLayout, mayAct, Table, Told } from './console-layout.js';
import { timeOf } from './overview-page.js';

/** What a form of the page does with a file. */
export const FILE_ACTIONS = ['revoke', 'hold', 'release', 'remove'] as const;
export type FileAction = (typeof FILE_ACTIONS)[number];

interface Props {
  user: ConsoleUser;
  filter: Pick<FileFilter, 'principal' | 'server' | 'digest'>;
  found: FilePage;
  /** Address of the next page. */
  next: string | undefined;
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
export function FilesPage({ user, filter, found, next }: Props) {
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
        works until it expires. A held file is neither swept nor removed.
      </p>
      <Table
        name="Files"
        heads={['Stored', 'File', 'Who', 'From', 'State', ...(mayAct(user) ? ['Action'] : [])]}
        none="There is none."
        rows={found.files.map((file) => <FileRow file={file} canAct={mayAct(user)} />)}
      />
      {next !== undefined && (
        <p>
          <a href={next}>More</a>
        </p>
      )}
    </ConsoleLayout>
  );
}

function FileRow({ file, canAct }: { file: FileRecord; canAct: boolean }) {
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
      <td>{principal}</td>
      <td>
        {server ?? 'an upload'}
        {server !== undefined && tool !== undefined && (
          <>
            .<Told text={tool} />
          </>
        )}
      </td>
      <td>{stateOf(file)}</td>
      {canAct && (
        <td>
          <form method="post" action="/stored/change">
            <input type="hidden" name="id" value={id} />
            {actionsFor(file).map((action) => (
              <button type="submit" name="action" value={action} class="second" aria-label={`${action} ${name}`}>
                {action}
              </button>
            ))}
          </form>
        </td>
      )}
    </tr>
  );
}
