import { describe, expect, it } from '@jest/globals';
import type { Inquire } from '../../../../gateway/mcp/inquire.js';
import { UnknownMethods } from '../../../../gateway/relay/upstream/unknown-methods.js';

const REQUESTS = ['files/getUpload', 'files/upload'].map((method) => ({ method, params: {} }));

const refused = (code: number, data?: object) => ({ error: { code, message: 'no', ...(data && { data }) } });

/** A server that answers each method as it is told, and what it was asked. */
function server(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const inquire: Inquire = async (method) => {
    asked.push(method);
    return answers[method] as Awaited<ReturnType<Inquire>>;
  };
  return { asked, inquire };
}

describe('the methods that a server does not know', () => {
  it('are asked for from the newest to the oldest, and each unknown one only once', async () => {
    const methods = new UnknownMethods().of('ann');
    const { asked, inquire } = server({ 'files/getUpload': refused(-32601), 'files/upload': { result: { a: 1 } } });
    for (let time = 0; time < 2; time += 1)
      expect(await methods.first(REQUESTS, inquire)).toMatchObject({ kind: 'result', result: { a: 1 } });
    expect(asked).toEqual(['files/getUpload', 'files/upload', 'files/upload']);
  });

  it('are known of one caller alone: a server may answer each one differently', async () => {
    const all = new UnknownMethods();
    const { inquire } = server({ 'files/getUpload': refused(-32601), 'files/upload': refused(-32601) });
    expect(await all.of('ann').first(REQUESTS, inquire)).toEqual({ kind: 'unknown' });
    expect([all.of('ann').lacks(REQUESTS), all.of('bob').lacks(REQUESTS)]).toEqual([true, false]);
  });

  it('are not those that it refuses as invalid with a reason, after which no older one is tried', async () => {
    const { asked, inquire } = server({ 'files/getUpload': refused(-32602, { reason: 'maxSizeExceeded' }) });
    expect(await new UnknownMethods().first(REQUESTS, inquire)).toMatchObject({ kind: 'refused' });
    expect(asked).toEqual(['files/getUpload']);
  });

  it('may be those that it refuses as invalid without a reason: the older one is tried, and asked for anew each time', async () => {
    const methods = new UnknownMethods();
    const { asked, inquire } = server({ 'files/getUpload': refused(-32602), 'files/upload': refused(-32601) });
    for (let time = 0; time < 2; time += 1)
      expect(await methods.first(REQUESTS, inquire)).toMatchObject({ kind: 'refused', error: { code: -32602 } });
    expect(asked).toEqual(['files/getUpload', 'files/upload', 'files/getUpload']);
  });

  it('are not waited for again where a guess was left without an answer', async () => {
    const methods = new UnknownMethods();
    const { asked, inquire } = server({});
    for (let time = 0; time < 2; time += 1)
      expect(await methods.first(REQUESTS, inquire, true)).toEqual({ kind: 'silent' });
    expect(asked).toEqual(['files/getUpload']);
    // what a client has asked for is
    expect(await methods.first(REQUESTS, inquire)).toEqual({ kind: 'silent' });
    expect(asked).toHaveLength(2);
  });
});
