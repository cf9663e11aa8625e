import { timeText } from '../../policy/amounts.js';
import { Told, toldLines } from './console-layout.js';
import type { ShownBlock, ShownFile, ShownResult } from './trying/shown-result.js';

/** What came of a call, for the page. */
export interface Outcome {
  /** Undefined: there was no result. */
  result: ShownResult | undefined;
  /** Why not. */
  error: string | undefined;
  /** Undefined where it was given up. */
  ms: number | undefined;
  /** A command that makes the same call; undefined where that is too long. */
  curl: string | undefined;
}

/** A result as a person looks at it. Everything in it is a server's own text. */
export function ResultView({ outcome: { result, error, ms, curl } }: { outcome: Outcome }) {
  const isBad = result === undefined || result.isError || result.isQuestion;
  return (
    <section aria-label="Result">
      <h2>Result</h2>
      <div class={isBad ? 'banner wrong' : 'banner'} role="status">
        <p>
          <strong>{headOf(result)}</strong>
          {ms !== undefined && ` after ${timeText(ms)}`}
        </p>
        {error !== undefined && <p class="said">{toldLines(error, error.length)}</p>}
        {result?.isQuestion && <p>It asks its client for something first, which the console cannot give.</p>}
      </div>
      {result && !result.isQuestion && <Blocks {...result} />}
      {result && result.files.length > 0 && <Files files={result.files} />}
      {result?.structured && (
        <>
          <h3>Structured content</h3>
          <pre tabindex={0}>{result.structured.text}</pre>
          {result.structured.isCut && <p class="soft">It is longer than what is shown here.</p>}
        </>
      )}
      <details>
        <summary>The same call with curl</summary>
        {curl === undefined ? (
          <p class="soft">It is too long to be pasted.</p>
        ) : (
          <>
            {curl.includes('$WHARF_KEY') && (
              <p class="soft">
                It expects a caller's key in <code>WHARF_KEY</code>.
              </p>
            )}
            <pre tabindex={0}>{curl}</pre>
          </>
        )}
      </details>
    </section>
  );
}

function headOf(result: ShownResult | undefined): string {
  if (!result || result.isQuestion) return 'No result';
  return result.isError ? 'The tool reports an error' : 'Done';
}

function Blocks({ blocks, more }: ShownResult) {
  return (
    <>
      {blocks.length === 0 && <p class="soft">Its content is empty.</p>}
      {blocks.map((block) => (
        <Block block={block} />
      ))}
      {more > 0 && <p class="soft">{moreText(more)}</p>}
    </>
  );
}

function Block({ block }: { block: ShownBlock }) {
  return (
    <>
      <h3>
        <Told text={block.title} />
      </h3>
      {block.kind === 'picture' && <img src={block.source} alt="What the tool gave" />}
      {block.kind === 'note' && <p class="soft said">{block.text}</p>}
      {block.kind === 'text' && <pre tabindex={0}>{block.text}</pre>}
      {block.kind === 'text' && block.isCut && <p class="soft">It is longer than what is shown here.</p>}
    </>
  );
}

function Files({ files }: { files: readonly ShownFile[] }) {
  return (
    <>
      <h3>Its files</h3>
      <ul>
        {files.map(({ name, about, handle, url }) => (
          <li>
            {url === undefined ? (
              <Told text={name} />
            ) : (
              <a href={url}>
                <Told text={name} />
              </a>
            )}
            <br />
            {about !== '' && (
              <>
                <span class="soft">{about}</span>
                <br />
              </>
            )}
            <code>{handle}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function moreText(more: number): string {
  return more === 1
    ? 'There is 1 more block, which is not shown.'
    : `There are ${more} more blocks, which are not shown.`;
}
