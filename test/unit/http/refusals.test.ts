import { expect, it } from '@jest/globals';
import { asGatewayError, GatewayError } from '../../../gateway/errors.js';
import { Refusals } from '../../../gateway/http/refusals.js';
import { silentLog } from '../../helpers/silent-log.js';

it('the line about a request that Wharf itself failed at says what has failed', () => {
  const lines: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) };
  const refusals = new Refusals({
    log,
    metrics: { count() {}, observe() {}, gauge() {} },
    clock: { ticks: () => 0 },
  });
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  for (const error of [asGatewayError(missing), new GatewayError('route_unknown', {}, missing)])
    refusals.note(error, { headers: {}, socket: {} });
  expect(lines).toEqual([
    expect.objectContaining({ code: 'internal', err: missing }),
    expect.not.objectContaining({ err: missing }),
  ]);
});
