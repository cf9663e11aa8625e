import { GatewayError } from '../../errors.js';
import type { Identity } from '../../ports/identity.js';
import { ServerChallenge } from '../../upstream-auth/server-challenge.js';
import type { Asked, Sender } from '../caller.js';
import type { OpenedAnswer, OwnHttpRequest } from '../upstream/own-request.js';
import { isAboutFile } from './offers.js';

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

/**
 * Where the server judges its callers, lets it do so before one reads a file of its own. Callers without a token share what the
 * server gives to everyone, and it need not be asked.
 * @throws as `letServerJudge`
 */
export async function letServerJudgeReader(sender: Sender, deps: Deps, opener: Opener | undefined): Promise<void> {
  if (sender.exchange.identity.token !== undefined) await letServerJudge(sender, deps, opener);
}

/**
 * A way to the server on which a call that lacks a file, or whose file is refused, fails only for callers that the server has
 * taken: Wharf answers the others with an upload link. Others hear from the server why they are not let in.
 */
export function judgedForward(
  forward: (asked: Asked) => Promise<void>,
  deps: Deps,
  opener: () => Opener | undefined,
): (asked: Asked) => Promise<void> {
  if (!deps.isAccepted) return forward;
  return async (asked) => {
    try {
      await forward(asked);
    } catch (error) {
      if (isAboutFile(error)) await letServerJudge(asked, deps, opener());
      throw error;
    }
  };
}
