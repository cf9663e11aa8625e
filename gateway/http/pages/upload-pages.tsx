import type { FileValue } from '../../files/file.js';
import type { Admission } from '../../files/upload.js';
import { mostText, sizeText } from '../../policy/amounts.js';
import { FILE_PART } from '../multipart.js';
import { Layout } from './layout.js';

/** The form for one file: works without script, and looking at it uses nothing up. */
export function UploadForm({ upload }: { upload: Pick<Admission, 'intent' | 'largest' | 'expiresAt'> }) {
  const { intent, largest } = upload;
  const { purpose, accept, name, mimeType, size } = intent;
  const types = accept ?? (mimeType === undefined ? undefined : [mimeType]);
  return (
    <Layout title="Upload a file">
      {purpose && (
        <p>
          It goes to the server <strong>{purpose.server}</strong>
          {purpose.tool !== undefined && (
            <>
              , for its tool <strong>{purpose.tool}</strong>
            </>
          )}
          {purpose.argument !== undefined && (
            <>
              {' '}
              (<code>{purpose.argument}</code>)
            </>
          )}
          .
        </p>
      )}
      <dl>
        {name !== undefined && <Row term="Expected file">{name}</Row>}
        {size !== undefined && <Row term="Expected size">{sizeText(size)}</Row>}
        <Row term="Largest size">{mostText(largest.allowed)}</Row>
        <Row term="Types">{types === undefined ? 'any' : types.join(', ')}</Row>
        <Row term="Open until">{moment(upload.expiresAt)}</Row>
      </dl>
      <form method="post" enctype="multipart/form-data">
        <label for={FILE_PART}>File</label>
        <input id={FILE_PART} name={FILE_PART} type="file" required accept={types?.join(',')} />
        <button type="submit">Upload</button>
      </form>
    </Layout>
  );
}

export function UploadedPage({ file }: { file: FileValue }) {
  return (
    <Layout title="Uploaded" mood="good">
      <p>The file has been stored. You can close this page.</p>
      <dl>
        <Row term="File">{file.name}</Row>
        <Row term="Type">{file.mimeType}</Row>
        <Row term="Size">{sizeText(file.size)}</Row>
        <Row term="Handle">
          <code>{file.uri}</code>
        </Row>
        <Row term="SHA-256">
          <code>{Buffer.from(file.digest.value, 'base64url').toString('hex')}</code>
        </Row>
      </dl>
    </Layout>
  );
}

/** @param isOpen whether another try can help */
export function UploadRefusedPage({ title, text, isOpen }: { title: string; text: string; isOpen: boolean }) {
  return (
    <Layout title={title} mood="bad">
      <p>{text}</p>
      {isOpen && (
        <p>
          Nothing has been stored. <a href="?">Try again</a>
        </p>
      )}
    </Layout>
  );
}

function Row({ term, children }: { term: string; children: string | ReturnType<typeof Layout> }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

function moment(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC');
}
