import { extensionFor, mediaTypeOf, typeForExtension } from '../../files/names/media-type.js';
import type { Admission } from '../../files/uploads/upload-links.js';
import { filesText, mostText, sizeText } from '../../policy/amounts.js';
import type { Begun, SeveralFiles } from '../browser/page-data.js';
import { shown, shownName } from '../browser/shown.js';
import { TEXTS, typesText } from '../browser/texts.js';
import { FILE_PART } from '../multipart.js';
import { Mark } from './icons.js';
import { Layout, Row } from './layout.js';

/** Most characters of a text that came with the request. */
const MOST_OF_MESSAGE = 600;

interface FormProps {
  upload: Pick<Admission, 'intent' | 'largest' | 'expiresAt'>;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** Addresses of the script, relative to the page. */
  modules: readonly string[];
  /** True when an upload can be interrupted and continued. */
  isResumable: boolean;
  /** The part of a file that has already arrived. */
  begun?: Begun | undefined;
  /** What has arrived of several files. */
  come?: SeveralFiles['come'] | undefined;
}

/** The page that takes a file: its form works without script, and opening the page does not use up the link. */
export function UploadForm({ upload, now, modules, isResumable, begun, come = [] }: FormProps) {
  const { intent, largest, expiresAt } = upload;
  const { purpose, accept, name, mimeType, size, several } = intent;
  const words = several ? TEXTS.several : TEXTS.one;
  const together = several?.together?.bytes;
  const wanted = accept ?? (mimeType === undefined ? undefined : [mimeType]);
  const types = wanted === undefined ? TEXTS.anyType : typesText(wanted, shown);
  const data = {
    largest: largest.allowed,
    ...(size !== undefined && { size }),
    ...(wanted && { accept: alike(wanted) }),
    types,
    isResumable,
    ...(begun && { begun }),
    ...(several && {
      several: { least: several.least, most: several.most, ...(together !== undefined && { together }), come },
    }),
    expiresAt,
    now,
  };
  const takesPictures = wanted === undefined || data.accept?.some((entry) => /^(?:\*|image\/|\*\/\*)/i.test(entry));
  return (
    <Layout title={words.upload} script={{ modules, data }}>
      <h1 tabindex={-1}>{words.upload}</h1>
      {purpose && <Asks purpose={purpose} isForSeveral={several !== undefined} />}
      {purpose?.message !== undefined && <Quote from={TEXTS.message} text={purpose.message} />}
      {purpose?.question !== undefined && <Quote from={TEXTS.question} text={purpose.question} />}
      <dl>
        {name !== undefined && (
          <Row term={TEXTS.expectedFile}>
            <bdi>{shownName(name)}</bdi>
          </Row>
        )}
        {size !== undefined && <Row term={TEXTS.expectedSize}>{sizeText(size)}</Row>}
        {several && <Row term={TEXTS.count}>{filesText(several.least, several.most)}</Row>}
        <Row term={words.largest}>{mostText(largest.allowed)}</Row>
        {together !== undefined && <Row term={TEXTS.together}>{mostText(together)}</Row>}
        <Row term={TEXTS.types}>
          <bdi>{types}</bdi>
        </Row>
        <Row term={TEXTS.openUntil}>
          <time datetime={new Date(expiresAt).toISOString()}>{moment(expiresAt)}</time> <small id="left" />
        </Row>
      </dl>
      <p id="begun" class="message" hidden />
      <div id="problem" class="problem" role="alert" tabindex={-1} hidden />
      <ul id="files" class="files" aria-label={TEXTS.files} hidden />
      <form method="post" enctype="multipart/form-data">
        <div id="place">
          <label class="plain" for={FILE_PART}>
            {words.file}
          </label>
          <input
            id={FILE_PART}
            name={FILE_PART}
            type="file"
            required
            multiple={several !== undefined}
            accept={wanted?.join(',')}
          />
        </div>
        <div id="drop" class="drop" hidden>
          <Mark size={40} />
          <div class="choices">
            <span id="choose" />
            {takesPictures && (
              <span class="camera">
                <input id="camera" type="file" accept="image/*" capture="environment" />
                <label class="button second" for="camera">
                  {TEXTS.photo}
                </label>
              </span>
            )}
          </div>
          <p>{words.dropHere}</p>
        </div>
        <button type="submit">{TEXTS.form}</button>
      </form>
      {several && <div id="all" class="all" hidden />}
      <p id="said" class="out" role="status" />
      <p class="note">{words.promise}</p>
    </Layout>
  );
}

function Quote({ from, text }: { from: string; text: string }) {
  return (
    <blockquote class="message">
      <cite>{from}</cite>
      <p dir="auto">{shown(text, MOST_OF_MESSAGE)}</p>
    </blockquote>
  );
}

interface AsksProps {
  purpose: NonNullable<Admission['intent']['purpose']>;
  isForSeveral?: boolean;
}

/** Who asks for a file, and what for. */
export function Asks({ purpose, isForSeveral = false }: AsksProps) {
  const { asksTool, asksServer } = isForSeveral ? TEXTS.several : TEXTS.one;
  const server = (
    <strong>
      <bdi>{shown(purpose.server)}</bdi>
    </strong>
  );
  if (purpose.tool === undefined)
    return (
      <p class="lead">
        {asksServer.begin} {server} {asksServer.end}
      </p>
    );
  return (
    <p class="lead">
      {asksTool.begin}{' '}
      <strong>
        <bdi>{shown(purpose.tool)}</bdi>
      </strong>{' '}
      {asksTool.middle} {server} {asksTool.end}
      {purpose.argument !== undefined && (
        <>
          , {TEXTS.asArgument}{' '}
          <code>
            <bdi>{shown(purpose.argument)}</bdi>
          </code>
        </>
      )}
      .
    </p>
  );
}

/** Types and extensions that the server accepts for these, so that the script does not refuse them. */
function alike(wanted: readonly string[]): string[] {
  const all = wanted.flatMap((given): (string | undefined)[] => {
    const entry = given.trim().toLowerCase();
    if (entry.startsWith('.')) return [entry, typeForExtension(entry.slice(1))];
    const extension = entry.endsWith('/*') ? undefined : extensionFor(mediaTypeOf(entry, undefined));
    return [entry, extension && `.${extension}`];
  });
  return [...new Set(all.filter((entry) => entry !== undefined).filter((entry) => entry.length > 1))];
}

/** A time in UTC, until the script shows it in the reader's time zone. */
function moment(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC');
}
