/** Why a server has refused a caller, in the words of its `WWW-Authenticate`: empty where it has none. */
export class ServerChallenge extends Error {
  override readonly name = 'ServerChallenge';
  readonly header: string;

  constructor(header: string) {
    super('the server has refused the caller');
    this.header = header;
  }
}
