import { AdvisedError } from '../../gateway/errors/system.js';

/** How Redis begins what it refuses: `WRONGPASS invalid …`. `ERR` says nothing. */
const OWN_CODE = /^(?!ERR )([A-Z]{3,20}) /;

/** What a Redis answers to each write while it cannot write to its own disk, with `appendonly` or `save`. */
const NOT_LASTING = 'MISCONF';

const CORRECT_DATABASE =
  'state.url ends with the number of a database that this Redis does not have: it has those below its setting "databases", 16 unless it is set.';

/** What it says to a user that may not choose a database. */
const LACKS_SELECT = /^NOPERM .*'select'/;

const GIVE_SELECT =
  'state.url ends with the number of a database, which its user may not choose: ACL SETUSER NAME +select, or leave the number out.';

const NAME_PRIMARY = 'This Redis is a replica: state.url must lead to the primary.';

const FOLLOW_PRIMARY =
  'Fewer replicas follow this Redis than its setting "min-replicas-to-write" asks for: start them again. After a failover it is the old primary, and state.url must lead to the new one.';

const LOOK_AT_RIGHTS = '`wharf doctor` names the rights that its user lacks.';

/** What Redis says as long as an operator does nothing: to a wrong password, to none, and to a user who may not do it. */
const REFUSES = /^(?:WRONGPASS|NOAUTH|NOPERM)$/;

const MAKE_ROOM =
  'Redis cannot write to its own disk: make room there, and look at its log. Wharf goes on by itself once Redis does.';

/** Most characters of an error that Wharf logs: what Redis says, and what Wharf advises. */
const MOST_TOLD = 800;

/** What Redis says to a user that may not do something: of a script the second, which does not name the command. */
const LACKS_A_RIGHT = /^NOPERM |^ERR The user executing the script can't run/;

/** Whether an error of Redis is of that kind: `OOM`, for example. A script that cannot write says it in its own words. */
export function saysOf({ message }: Pick<Error, 'message'>, kind: string): boolean {
  return (
    message.startsWith(`${kind} `) || (message.startsWith('ERR Error running script') && message.includes(`-${kind} `))
  );
}

/**
 * Whether it refuses writes because another Redis may be the primary by now: one that has become a replica, and a primary that
 * its replicas have left, as after a failover of which it does not know.
 */
export function mayBeReplaced(said: Pick<Error, 'message'>): boolean {
  return saysOf(said, 'READONLY') || saysOf(said, 'NOREPLICAS');
}

/** What to do about what Redis says, where its words are not changed. */
export function adviceOnWords(said: Pick<Error, 'message'>): string | undefined {
  if (saysOf(said, 'READONLY')) return NAME_PRIMARY;
  if (saysOf(said, 'NOREPLICAS')) return FOLLOW_PRIMARY;
  if (LACKS_SELECT.test(said.message)) return GIVE_SELECT;
  return saysOf(said, 'ERR DB index') ? CORRECT_DATABASE : undefined;
}

/** The error, with what to do where Redis's own words do not say it. */
export function advised(said: Error): Error {
  if (said instanceof AdvisedError) return said;
  // not as advice: the doctor itself has more
  if (LACKS_A_RIGHT.test(said.message)) return Object.assign(said, { message: `${said.message} (${LOOK_AT_RIGHTS})` });
  const todo = adviceOnWords(said);
  if (todo !== undefined) return advisedOn(said, todo);
  if (!saysOf(said, NOT_LASTING)) return said;
  const told = new AdvisedError(said.message.replace(/\.?$/, '.'), MAKE_ROOM);
  delete told.stack;
  return told;
}

/** What Redis says often ends without a full stop: in its text, what to do stands in brackets behind it. */
export function advisedOn(said: Error, todo: string, place?: 'in its text'): Error {
  const message = place === undefined ? said.message : `${said.message} (${todo})`;
  const told = Object.assign(new AdvisedError(said.message, todo, { message }), codeOf(said));
  delete told.stack;
  return told;
}

/**
 * The error without the command's values: the library attaches the arguments to it, and Redis repeats the first
 * arguments of an unknown command. It has no stack: each request that fails while Redis is away has a line of the log, and
 * where in the source a Redis is away says nothing.
 */
export function withoutValues(error: unknown): Error {
  if (error instanceof AdvisedError) return error;
  const { message } = (error ?? {}) as { message?: unknown };
  const text = typeof message === 'string' ? message : 'The connection was closed.';
  const told = new Error(text.replace(/, with args beginning with:.*$/s, '').slice(0, MOST_TOLD));
  delete told.stack;
  return Object.assign(told, codeOf(error));
}

/** Node's code, by which `wharf doctor` knows a certificate that was refused, or Redis's own: the first word of what it says. */
function codeOf(error: unknown): { code?: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return { code };
  const [, said] = OWN_CODE.exec(typeof message === 'string' ? message : '') ?? [];
  return said === undefined ? {} : { code: said };
}

/** Whether Redis goes on refusing until an operator acts. */
export function isRefusal(said: Error): boolean {
  return REFUSES.test(codeOf(said).code ?? '') || LACKS_A_RIGHT.test(said.message);
}
