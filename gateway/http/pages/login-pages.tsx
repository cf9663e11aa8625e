import { shown } from '../browser/shown.js';
import { Layout, State } from './layout.js';

/** Characters of a caller's name: the end of it says who it is, behind an issuer of any length. */
const MOST_OF_CALLER = 1000;

/** Shown before a person leaves for the authorization server: whose login it will be. */
export function LoginPage({
  server,
  principal,
  url,
  host,
}: {
  server: string;
  principal: string;
  url: string;
  host: string;
}) {
  const title = `Log in for ${server}`;
  return (
    <Layout title={title}>
      <State mood="calm" title={title}>
        <p>
          Your assistant wants to use the server <b>{shown(server)}</b> in your name. To Wharf you are{' '}
          <bdi>
            <b>{shown(principal, MOST_OF_CALLER)}</b>
          </bdi>
          , and your login will be used for that name alone.
        </p>
        <p>If that is not you, close this page: someone else may have sent you this link.</p>
        <p>
          <a href={url} rel="noreferrer">
            Log in at {shown(host)}
          </a>
        </p>
      </State>
    </Layout>
  );
}

type LoginEndKind = 'done' | 'refused' | 'changed' | 'unknown' | 'failed';

const TITLES: Readonly<Record<LoginEndKind, string>> = {
  done: 'You are logged in',
  refused: 'You have not logged in',
  changed: 'This login does not count',
  unknown: 'This link does not work',
  failed: 'The login failed',
};

export function LoginEndPage({ kind, server, why }: { kind: LoginEndKind; server?: string; why?: string }) {
  const text: Record<LoginEndKind, string> = {
    done: `Wharf may use the server ${server ?? ''} in your name. Close this page and go on in your assistant.`,
    refused: 'The server is not used in your name. Ask your assistant again if you change your mind.',
    changed: `How people log in for the server ${server ?? ''} has changed meanwhile. Ask your assistant again for a new link.`,
    unknown: 'It is too old, was used already, or was opened in another browser. Ask your assistant again.',
    failed: why ?? '',
  };
  return (
    <Layout title={TITLES[kind]}>
      <State mood={kind === 'done' ? 'good' : 'calm'} title={TITLES[kind]}>
        <p>{shown(text[kind])}</p>
      </State>
    </Layout>
  );
}
