import { type Entry, entryText } from './entry.js';
import { hostLines, KEY } from './host-lines.js';
import { Layout } from './layout.js';

const TITLE = 'Connect an MCP client';
const CHOOSE = 'Choose an MCP server';

/** A server, and its MCP URL. */
interface Endpoint {
  name: string;
  url: string;
}

interface PageProps {
  /** Addresses of the script and its imports, relative to the page. */
  modules: readonly string[];
}

const About = () => (
  <p class="lead">
    This is Wharf, a gateway in front of MCP servers. Files in their results arrive as links that open in a browser, and
    tools that take files get them by upload. The servers, and your client, stay as they are.
  </p>
);

/** A text to copy, under its heading. The script adds the button; without it the text is selected by hand. */
function Paste({ label, place, text }: { label: string; place?: string; text: string }) {
  return (
    <section>
      <h2>{label}</h2>
      {place !== undefined && <p>{place}:</p>}
      <pre data-copy={label}>
        <code>{text}</code>
      </pre>
    </section>
  );
}

/** The URL of one server, and what to paste into each host. */
export function ConnectPage({ name, url, entry, modules }: Endpoint & PageProps & { entry: Entry }) {
  const text = entryText(entry);
  return (
    <Layout title={TITLE} script={{ modules }}>
      <h1 tabindex={-1}>{TITLE}</h1>
      <About />
      <Paste label="MCP URL" text={url} />
      {text !== undefined && (
        <p>{text.split(KEY).flatMap((part, at) => (at === 0 ? [part] : [<code>{KEY}</code>, part]))}</p>
      )}
      {hostLines({ name, url, asksKey: entry === 'keys' }).map(({ host, place, lines }) => (
        <Paste label={host} place={place} text={lines} />
      ))}
      <p id="said" class="out" role="status" />
      <p class="note">Any other host: give it the MCP URL above as a server of the type “Streamable HTTP”.</p>
    </Layout>
  );
}

/** The servers there are, each with a page of its own. */
export function ServersPage({ servers, more, modules }: PageProps & { servers: readonly Endpoint[]; more: number }) {
  return (
    <Layout title={CHOOSE} script={{ modules }}>
      <h1 tabindex={-1}>{CHOOSE}</h1>
      <About />
      {servers.map(({ name, url }) => (
        <>
          <Paste label={name} text={url} />
          <p>
            <a href={url}>Connect a client to {name}</a>
          </p>
        </>
      ))}
      {more > 0 && <p>And {more} more.</p>}
      <p id="said" class="out" role="status" />
    </Layout>
  );
}
