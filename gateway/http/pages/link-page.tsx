import type { ErrorCode, GatewayError } from '../../errors.js';
import { Layout, type Mood, State } from './layout.js';

interface Words {
  title: string;
  text: string;
  mood: Mood;
}

/** Why a link leads to no file, and what to do about it. */
const CLOSED: Partial<Record<ErrorCode, Words>> = {
  link_unknown: {
    title: 'Unknown link',
    text: 'There is no file at this address. Check that the whole link was copied, or ask the assistant for a new one.',
    mood: 'bad',
  },
  link_expired: {
    title: 'This link has expired',
    text: 'Ask the assistant for a new link to the file. If it has none, let it run the tool again that gave the file.',
    mood: 'calm',
  },
  file_gone: {
    title: 'The file has been removed',
    text: 'Files are kept for a limited time after their last use. Ask the assistant to run the tool again that gave it.',
    mood: 'calm',
  },
};

const CHANGED: Words = {
  title: 'The file was changed where it is stored',
  text: 'Something has written to it that was not Wharf, so it is not shown. Ask the assistant to run the tool again that gave it.',
  mood: 'bad',
};

const FAILED = 'The file cannot be shown now';

/** Tells a person why a link shows no file. @param again the address that tries it again */
export function LinkPage({ error, again }: { error: GatewayError; again: string }) {
  const closed = error.facts.reason === 'changed' ? CHANGED : CLOSED[error.code];
  const { title, text, mood } = closed ?? { title: FAILED, text: error.message, mood: 'bad' };
  return (
    <Layout title={title}>
      <State mood={mood} title={title}>
        <p>{text}</p>
        {!closed && (
          <p>
            <a class="button" href={again}>
              Try again
            </a>
          </p>
        )}
      </State>
    </Layout>
  );
}
