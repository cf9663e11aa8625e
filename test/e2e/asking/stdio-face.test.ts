import { afterEach, expect, it } from '@jest/globals';
import { until } from '../../helpers/wait.js';
import { FaceProcess } from '../stdio-face-process.js';
import { PNG, STDIO, textOf, upload } from './lab.js';

let face: FaceProcess;

afterEach(async () => {
  await face.clean();
});

async function asked() {
  const [command = '', fixture = '', ...rest] = STDIO.command;
  face = await FaceProcess.start('--', command, `${process.cwd()}/${fixture}`, ...rest);
  await face.initialize('2025-11-25', { elicitation: { url: {} } });
  face.request(1, 'tools/list');
  await face.answer(1);
  face.request(2, 'tools/call', { name: 'take', arguments: { file: '@attach' } });
  return face.message(({ method }) => method === 'elicitation/create');
}

it('a client over stdio is asked by a line, and its answer is not the server’s (FB-01)', async () => {
  const question = await asked();
  expect(Object.keys(question.params ?? {}).sort()).toEqual(['elicitationId', 'message', 'mode', 'url']);
  face.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept' } });
  await upload(String(question.params?.url));
  expect(JSON.parse(textOf((await face.answer(2)).result))).toEqual({ value: PNG.toString('base64') });
  const complete = face.messages.find(({ method }) => method === 'notifications/elicitation/complete');
  expect(complete?.params).toEqual({ elicitationId: question.params?.elicitationId });
  face.child.stdin.end();
  expect(await face.ended).toBe(0);
});

it('a client over stdio that cancels its call ends the question, and its page (FB-05)', async () => {
  const question = await asked();
  face.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
  const url = String(question.params?.url);
  await until(async () => (await fetch(url, { headers: { accept: 'application/json' } })).status === 410);
  expect(await upload(url)).toBe(410);
  face.request(3, 'ping');
  await face.answer(3);
  expect(face.messages.some(({ id, method }) => id === 2 && method === undefined)).toBe(false);
});
