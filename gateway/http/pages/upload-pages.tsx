import type { GatewayError } from '../../errors.js';
import type { DescribedFile } from '../../files/file.js';
import { sizeText } from '../../policy/amounts.js';
import { needsAnotherFile, refusalText } from '../browser/fits.js';
import { shown, shownName } from '../browser/shown.js';
import { CLOSED, type Closed, TEXTS } from '../browser/texts.js';
import { Layout, Row, State } from './layout.js';

/** What a person sees after an upload: each file that is stored now. */
export function UploadedPage({ files }: { files: readonly DescribedFile[] }) {
  return (
    <Layout title={TEXTS.done}>
      <State mood="good" title={TEXTS.done}>
        <p>{files.length === 1 ? TEXTS.doneText : TEXTS.doneSeveral(files.length)}</p>
      </State>
      {files.map((file) => (
        <Uploaded file={file} />
      ))}
    </Layout>
  );
}

function Uploaded({ file }: { file: DescribedFile }) {
  return (
    <>
      <dl>
        <Row term={TEXTS.file}>
          <bdi>{shownName(file.name)}</bdi>
        </Row>
        <Row term={TEXTS.type}>{shown(file.mimeType)}</Row>
        <Row term={TEXTS.size}>{sizeText(file.size)}</Row>
      </dl>
      <details>
        <summary>{TEXTS.details}</summary>
        <dl>
          <Row term={TEXTS.handle}>
            <code>{file.uri}</code>
          </Row>
          <Row term={TEXTS.digest}>
            <code>{Buffer.from(file.digest, 'base64url').toString('hex')}</code>
          </Row>
        </dl>
      </details>
    </>
  );
}

/** The page of a link that takes nothing, and why. */
export function ClosedPage({ closed }: { closed: Closed }) {
  const { title, text, mood } = CLOSED[closed];
  return (
    <Layout title={title}>
      <State mood={mood} title={title}>
        <p>{text}</p>
      </State>
    </Layout>
  );
}

/** A link that cannot be looked at now: nothing was sent to it. */
export function UploadUnavailablePage({ error }: { error: Pick<GatewayError, 'message'> }) {
  return (
    <Layout title={TEXTS.notShown}>
      <State mood="bad" title={TEXTS.notShown}>
        <p>{error.message}</p>
        <p>
          <a class="button" href="?">
            {TEXTS.tryAgain}
          </a>
        </p>
      </State>
    </Layout>
  );
}

/** A failed attempt after which another one may succeed, with this file or another one. */
export function UploadRefusedPage({ error }: { error: Pick<GatewayError, 'code' | 'message' | 'facts'> }) {
  return (
    <Layout title={TEXTS.notStored}>
      <State mood="bad" title={TEXTS.notStored}>
        <p>{refusalText({ ...error.facts, code: error.code, message: error.message })}</p>
        <p>{TEXTS.nothingStored}</p>
        <p>
          <a class="button" href="?">
            {needsAnotherFile(error.code) ? TEXTS.one.chooseMore : TEXTS.tryAgain}
          </a>
        </p>
      </State>
    </Layout>
  );
}
