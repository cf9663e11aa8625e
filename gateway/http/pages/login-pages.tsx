import { shown } from '../browser/shown.js';
import { Layout, type Mood, State } from './layout.js';

/** Characters of a caller's name: the end of it says who it is, behind an issuer of any length. */
const MOST_OF_CALLER = 1000;

/** Characters of the reason of a failure. */
const MOST_OF_REASON = 500;

/** Shown before a person leaves for the authorization server: whose login it will be, and where the link leads. */
export function LoginPage({ server, principal, url }: { server: string; principal: string; url: string }) {
  const title = `Log in for ${server}`;
  return (
    <Layout title={title}>
      <h1>{title}</h1>
      <p>
        Your assistant wants to use the server <b>{shown(server)}</b> in your name. To Wharf you are{' '}
        <bdi>
          <b>{shown(principal, MOST_OF_CALLER)}</b>
        </bdi>
        , and your login will be used for that name alone.
      </p>
      <p>If that is not you, close this page: someone else may have sent you this link.</p>
      <p>
        <a class="button" href={url} rel="noreferrer">
          Log in at {shown(new URL(url).host)}
        </a>
      </p>
    </Layout>
  );
}

type LoginEndKind = 'done' | 'refused' | 'changed' | 'unknown' | 'failed';

const ENDS: Readonly<Record<LoginEndKind, { mood: Mood; title: string; rest: string }>> = {
  done: {
    mood: 'good',
    title: 'You are logged in',
    rest: 'Close this page and go on in your assistant.',
  },
  refused: {
    mood: 'calm',
    title: 'You have not logged in',
    rest: 'The server is not used in your name. Ask your assistant again if you change your mind.',
  },
  changed: {
    mood: 'calm',
    title: 'This login does not count',
    rest: 'Ask your assistant again for a new link.',
  },
  unknown: {
    mood: 'calm',
    title: 'This link does not work',
    rest:
      'It is too old, was used already, or was opened in another browser. If you have just logged in, go on in your ' +
      'assistant; otherwise ask it again.',
  },
  failed: {
    mood: 'bad',
    title: 'The login failed',
    rest: 'Ask your assistant again for a new link. If that fails too, tell the operator of this gateway what it says here.',
  },
};

/** How a login has ended. @param why it failed */
export function LoginEndPage({ kind, server = '', why }: { kind: LoginEndKind; server?: string; why?: string }) {
  const { mood, title, rest } = ENDS[kind];
  return (
    <Layout title={title}>
      <State mood={mood} title={title}>
        {kind === 'done' && (
          <p>
            Wharf may use the server <b>{shown(server)}</b> in your name.
          </p>
        )}
        {kind === 'changed' && (
          <p>
            How people log in for the server <b>{shown(server)}</b> has changed meanwhile.
          </p>
        )}
        {why !== undefined && <p>{shown(why, MOST_OF_REASON)}</p>}
        <p>{rest}</p>
      </State>
    </Layout>
  );
}
