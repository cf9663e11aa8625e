import { expect, it } from '@jest/globals';
import { AdvisedError } from '../../gateway/errors/system.js';
import { GatewayError } from '../../gateway/errors.js';
import { startFailureText } from '../../gateway/report.js';

it('a start that fails says why and what to do, once each, and nothing that is meant for clients', () => {
  const said = Object.assign(
    new AdvisedError('It is not known.', 'Correct the key.', { message: 'It is not known.' }),
    { name: 'InvalidAccessKeyId' },
  );
  const cause = new GatewayError('store_unavailable', { refused: true }, said);
  const error = new AdvisedError('The bucket "b" cannot be reached.', 'Check everything.', { cause });
  expect(startFailureText(error)).toBe(
    'Wharf could not start: The bucket "b" cannot be reached.\n' +
      '  because: InvalidAccessKeyId: It is not known.\n' +
      '  → Correct the key.\n',
  );
});

it('a start that fails says a cause once that a text around it has quoted, whatever its name', () => {
  const page = Object.assign(new Error('It answers with text/html, which is a page.'), { name: 'NotS3' });
  const cause = new GatewayError('store_unavailable', { refused: true }, page);
  const error = new AdvisedError(`The bucket "b" cannot be reached: ${page.message}`, 'Name the port.', { cause });
  expect(startFailureText(error)).toBe(
    'Wharf could not start: The bucket "b" cannot be reached: It answers with text/html, which is a page.\n' +
      '  → Name the port.\n',
  );
  const bare = Object.assign(new Error(''), { name: 'SlowDown' });
  expect(startFailureText(new Error('It broke.', { cause: bare }))).toContain('because: SlowDown:\n');
});

it('a start that fails of something unknown says what is known', () => {
  expect(startFailureText(new Error('Broken.'))).toBe('Wharf could not start: Broken.\n');
  expect(startFailureText('?')).toBe('Wharf could not start: unknown error\n');
});
