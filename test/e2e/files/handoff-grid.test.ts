import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image, ORIGINS, served, startGiving, startTaking, TARGETS, type Taking } from './handoff-lab.js';

const BYTES = image();
const origins = Object.keys(ORIGINS);
const targets = Object.keys(TARGETS);

describe('a file of any server in any tool of another (HO-02)', () => {
  let giving: RecordingUpstream;
  let taking: Taking;
  let wharf: Wharf;

  beforeAll(async () => {
    const given = await startGiving(BYTES);
    giving = given.upstream;
    taking = await startTaking();
    wharf = await startWharf({
      servers: {
        a: { url: giving.url, transport: 'streamable-http', tools: given.settings },
        b: { url: taking.upstream.url, transport: 'streamable-http', tools: taking.settings },
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await giving.stop();
    await taking.upstream.stop();
  });

  const pairs = served(ORIGINS).flatMap((origin) => served(TARGETS).map((target) => [origin, target] as const));

  it.each(pairs)('%s to %s (HO-01, HO-02)', async (origin, target) => {
    const from = await RawClient.connect(`${wharf.url}/a/mcp`);
    const to = await RawClient.connect(`${wharf.url}/b/mcp`);
    const { result, answer } = await from.call(`give${origins.indexOf(origin)}`);
    // the client and its model carry the handle only
    const sample = BYTES.toString('base64').slice(3000, 3060);
    expect(answer.text).not.toContain(sample);
    const { uri } = announced(result);
    expect(uri).toMatch(/^mcp-file:\/\/wharf\/f_/);
    const taken = await to.call(`take${targets.indexOf(target)}`, { file: uri });
    expect(taken.result?.isError).toBeUndefined();
    expect(sha256(await taking.received(target))).toBe(sha256(BYTES));
  });
});
