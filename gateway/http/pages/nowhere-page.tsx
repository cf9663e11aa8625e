import { Layout, State } from './layout.js';

const TITLE = 'Nothing here';

/** Tells a person that an address leads nowhere. @param start of the page that connects a client, where there is one */
export function NowherePage({ start }: { start: string | undefined }) {
  return (
    <Layout title={TITLE}>
      <State mood="bad" title={TITLE}>
        <p>Wharf has no page at this address. Check that the whole link was copied.</p>
        {start !== undefined && (
          <p>
            <a class="button" href={start}>
              Connect an MCP client
            </a>
          </p>
        )}
      </State>
    </Layout>
  );
}
