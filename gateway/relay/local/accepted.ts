import { GatewayError } from '../../errors.js';
import type { Identity } from '../../ports/identity.js';
import { ServerChallenge } from '../../upstream-auth/server-challenge.js';
import type { Sender } from '../caller.js';
import type { OpenedAnswer, OwnHttpRequest } from '../upstream/own-request.js';

/** What every caller of a server may ask. */
const LIST: OwnHttpRequest = { method: 'tools/list', params: {} };

/** What sends requests of Wharf's own to the server. */
interface Opener {
  open(sender: Sender, request: OwnHttpRequest): Promise<OpenedAnswer>;
}

interface Deps {
  server: string;
  isAccepted: ((identity: Identity) => boolean) | undefined;
}

/**
 * Where the server judges its callers, lets it do so before Wharf does something by itself for one that it has not taken
 * lately: otherwise a made-up token would do for uploads.
 * @throws GatewayError `login_needed`, `caller_forbidden`, and those of a server that cannot be asked
 */
export async function letServerJudge(
  sender: Sender,
  { server, isAccepted }: Deps,
  opener: Opener | undefined,
): Promise<void> {
  const { identity } = sender.exchange;
  if (!isAccepted || !opener || isAccepted(identity)) return;
  const { answer } = await opener.open(sender, LIST);
  answer.body.destroy();
  if (isAccepted(identity)) return;
  // a server that shows its tools to everyone has said nothing about a caller without a token
  if (identity.token === undefined) throw new GatewayError('login_needed', { server }, new ServerChallenge('Bearer'));
  throw new GatewayError('caller_forbidden', { server });
}
