import {
  Client,
  ClientCredentialsProvider,
  type CrossAppAccessContext,
  CrossAppAccessProvider,
  DpopSession,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { Person, Workload } from './person.js';
import type { Place } from './via.js';

/** Logins within one run: a client must not go on for ever. */
const MOST_LOGINS = 2;

interface Run extends Place {
  scenario: string;
  version: string | undefined;
  /** What the suite tells this scenario's client. */
  context: Record<string, string> & { toolCalls?: { name: string; arguments: Record<string, unknown> }[] };
}

type ClientOptions = ConstructorParameters<typeof Client>[1];

/** A client that logs in as often as it is asked, within reason. */
class Session {
  readonly #run: Run;
  readonly #provider: OAuthClientProvider | undefined;
  readonly #options: ClientOptions;
  #logins = 0;
  #connected: { client: Client; transport: StreamableHTTPClientTransport } | undefined;

  constructor(run: Run, provider?: OAuthClientProvider, options: ClientOptions = {}) {
    this.#run = run;
    this.#provider = provider;
    this.#options = options;
  }

  /** Runs a step, and once more after each login that it needs. */
  async step<Value>(work: (client: Client) => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await work(await this.#client());
      } catch (error) {
        await this.#logIn(error);
      }
    }
  }

  async end(): Promise<void> {
    await this.#connected?.client.close();
  }

  async #client(): Promise<Client> {
    if (this.#connected) return this.#connected.client;
    const { url, version, fetch } = this.#run;
    const mode = version === '2026-07-28' ? { pin: version } : 'legacy';
    const client = new Client(
      { name: 'wharf-conformance', version: '1.0.0' },
      { ...this.#options, versionNegotiation: { mode } },
    );
    const transport = new StreamableHTTPClientTransport(url, {
      fetch,
      ...(this.#provider && { authProvider: this.#provider }),
    });
    this.#connected = { client, transport };
    await client.connect(transport);
    return client;
  }

  /** @throws the error, when it is not about a login */
  async #logIn(error: unknown): Promise<void> {
    const connected = this.#connected;
    const answer = this.#provider instanceof Person ? this.#provider.answer : undefined;
    if (!(error instanceof UnauthorizedError) || !answer || !connected || ++this.#logins > MOST_LOGINS) throw error;
    await connected.transport.finishAuth(answer);
    this.#connected = undefined;
  }
}

/** Lists the tools and calls each with plain arguments, or those given. */
async function callAll(session: Session, args: Record<string, Record<string, unknown>> = {}): Promise<void> {
  const { tools } = await session.step((client) => client.listTools());
  for (const { name } of tools)
    await session
      .step((client) => client.callTool({ name, arguments: args[name] ?? {} }))
      .catch((error: unknown) => {
        if (error instanceof UnauthorizedError) throw error;
        process.stderr.write(`${name}: ${error}\n`);
      });
  await session.end();
}

const plain = (run: Run) => callAll(new Session(run), { add_numbers: { a: 5, b: 3 } });
const person = (run: Run) => callAll(new Session(run, new Person()));

/** What each scenario's client does. */
const SCENARIOS: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  'elicitation-sep1034-client-defaults': async (run) => {
    const options = { capabilities: { elicitation: { form: { applyDefaults: true } } } };
    const session = new Session(run, undefined, options);
    await session.step(async (client) => {
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    });
    await callAll(session);
  },
  'auth/pre-registration': (run) => {
    const { client_id = '', client_secret = '' } = run.context;
    return callAll(new Session(run, new Person({ client: { client_id, client_secret } })));
  },
  'auth/client-credentials-basic': (run) => {
    const { client_id: clientId = '', client_secret: clientSecret = '' } = run.context;
    return callAll(new Session(run, new ClientCredentialsProvider({ clientId, clientSecret })));
  },
  'auth/client-credentials-jwt': (run) => {
    const { client_id: clientId = '', private_key_pem: privateKey = '', signing_algorithm: algorithm } = run.context;
    const provider = new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: algorithm ?? 'ES256' });
    return callAll(new Session(run, provider));
  },
  'auth/enterprise-managed-authorization': (run) => {
    const { client_id: clientId = '', client_secret: clientSecret = '', ...idp } = run.context;
    const assertion = async ({ authorizationServerUrl, resourceUrl }: CrossAppAccessContext) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: idp.idp_token_endpoint ?? '',
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: idp.idp_id_token ?? '',
        clientId: idp.idp_client_id ?? '',
      });
      return jwtAuthGrant;
    };
    return callAll(new Session(run, new CrossAppAccessProvider({ assertion, clientId, clientSecret })));
  },
  'auth/wif-jwt-bearer': (run) => callAll(new Session(run, new Workload(run.context))),
  'http-custom-headers': async (run) => {
    const session = new Session(run);
    await session.step((client) => client.listTools());
    for (const call of run.context.toolCalls ?? []) await session.step((client) => client.callTool(call));
    await session.end();
  },
  'json-schema-2020-12-preservation': async (run) => {
    const session = new Session(run);
    const { tools } = await session.step((client) => client.listTools());
    const schema = tools.find(({ name }) => name !== ECHO)?.inputSchema;
    await session.step((client) => client.callTool({ name: ECHO, arguments: { schema } }));
    await session.end();
  },
  'sep-2322-client-request-state': async (run) => {
    const session = new Session(run, undefined, { capabilities: { elicitation: { form: {} } } });
    await session.step(async (client) => {
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirmed: true } }));
    });
    await callAll(session);
  },
  'auth/dpop': withProofs,
  'auth/dpop-nonce': withProofs,
};

/** The tool that sends back what it gets. */
const ECHO = 'json_schema_echo';

/** A host that lists skills, and reads those that its user wants. */
async function skills(run: Run): Promise<void> {
  const session = new Session(run);
  await session.step(async (client) => {
    const host = new SkillsClient(client, { skipInvalid: true });
    const { skills: listed } = await host.list();
    if (run.scenario.endsWith('no-prefetch')) return;
    for (const skill of listed)
      await host.read(skill).catch((error: unknown) => process.stderr.write(`${skill.uri}: ${error}\n`));
  });
  await session.end();
}

function withProofs(run: Run): Promise<void> {
  const session = DpopSession.create();
  return callAll(new Session(run, new Person({ dpop: () => session })));
}

export function clientOf(scenario: string): (run: Run) => Promise<void> {
  const fallback = scenario.startsWith('auth/') ? person : scenario.startsWith('sep-2640-') ? skills : plain;
  return SCENARIOS[scenario] ?? fallback;
}
