import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { ConsoleLogins } from '../../../gateway/http/console/console-logins.js';
import { Refusals } from '../../../gateway/http/refusals.js';
import { Seal } from '../../../gateway/secrets/seal.js';
import { silentLog } from '../../helpers/silent-log.js';

const MINUTE = 60_000;

/** A machine's clock, which is set back by an hour, and the time that passes meanwhile. */
function setBack(passed = 0) {
  const time = { passed, isSetBack: false };
  const clock = { now: () => time.passed - (time.isSetBack ? 60 * MINUTE : 0), ticks: () => time.passed };
  return { time, clock };
}

describe('a window of a minute ends after a minute, although the clock was set back', () => {
  it('for the lines about refusals', () => {
    const { time, clock } = setBack();
    const lines: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) };
    const refusals = new Refusals({ log, metrics: { count() {}, observe() {}, gauge() {} }, clock });
    const note = () => refusals.note(new GatewayError('route_unknown'), { headers: {}, socket: {} });
    for (let count = 0; count < 15; count++) note();
    expect(lines).toHaveLength(10);
    time.isSetBack = true;
    time.passed += MINUTE;
    note();
    expect(lines.at(-1)).toMatchObject({ leftOut: 5 });
  });

  it('for the keys that an address may try at the console', () => {
    const { time, clock } = setBack();
    const digest = createHash('sha256').update('right').digest();
    const logins = new ConsoleLogins([{ name: 'ann', role: 'operator', digest }], {
      seal: new Seal(['a secret']),
      audit: { record: async () => {}, note() {} },
      clock,
    });
    const tried = (key: string) => {
      try {
        return logins.userOf(key, '192.0.2.1').name;
      } catch (error) {
        return (error as GatewayError).code;
      }
    };
    for (let count = 0; count < 10; count++) expect(tried(`wrong ${count}`)).toBe('console_login');
    expect(tried('right')).toBe('console_tries');
    time.isSetBack = true;
    time.passed += MINUTE;
    expect(tried('right')).toBe('ann');
  });
});
