import { from, proposal, type Rows, together } from './row.js';

/** Of https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2532. */
const TEXT = proposal('c4addbf6d08daf7b6671ad434c8cb285bd853339', '2532-resource-streaming');
const section = (anchor: string) => `${TEXT}#${anchor}`;
const DIALECTS = 'docs/reference/dialects.md';

/** `resources/stream`. */
export const SEP_2532: Rows = together(
  from(section('server-capability'), {
    '2532-01': 'Wharf declares resources.stream in front of a server with resources.',
    '2532-02': 'Wharf declares streaming beside the other resource capabilities of the server.',
  }),
  from(section('client-capability'), {
    '2532-04': 'Wharf declares its own limit as maxStreamSize to servers.',
    '2532-05': 'Wharf streams nothing above the maxStreamSize of a client, and names it in the error.',
    '2532-06': 'Wharf refuses resources/stream to clients that do not declare resourceStreaming.',
  }),
  from(section('2-resource-metadata-extension'), {
    '2532-07': 'Wharf marks the resources of a list that can be streamed.',
    '2532-08': 'Wharf marks a resource as streamable where streaming is the better way.',
  }),
  from(section('resource-templates'), {
    '2532-09': 'Wharf marks resource templates in the same way.',
  }),
  from(section('request'), {
    '2532-10': 'Wharf asks a server for a stream with a URI and nothing else, and refuses a request without one.',
  }),
  from(section('response-direct-binary-stream-primary-mode'), {
    '2532-11': 'Wharf answers resources/stream with the bare bytes.',
    '2532-12': "Wharf sends the resource's media type as the Content-Type.",
    '2532-13': 'Wharf sends a Content-Length where the size is known.',
    '2532-14': 'Wharf names the file in a Content-Disposition header.',
    '2532-15': 'Wharf names the resource in an MCP-Resource-Uri header.',
    '2532-17': "Wharf looks at the Content-Type of a server's answer to decide how to read it.",
    '2532-18': "Wharf reads a server's JSON answer as an error or as a download URL.",
    '2532-19': 'Wharf takes an answer of any other type for the bytes themselves.',
    '2532-21': 'Wharf counts the bytes of a stream, and breaks off above the limit.',
    '2532-22': 'Wharf passes a stream on while it arrives, and holds nothing whole in memory.',
    '2532-23': 'Wharf puts no streamed byte into a message.',
  }),
  from(section('response-redirect-mode-alternative'), {
    '2532-24': ['Wharf answers with a redirect that names the resource.', 'superseded by the design'],
    '2532-25': ['Wharf redirects to addresses that need no credential.', 'superseded by the design'],
    '2532-26': ['Wharf documents the credential that the target of a redirect needs.', 'superseded by the design'],
    '2532-27': ['Wharf redirects to addresses that expire after minutes.', 'superseded by the design'],
    '2532-28': 'Wharf follows the redirects of a server, without credentials at another origin.',
  }),
  from(section('response-download-url-mode-alternative'), {
    '2532-29': 'Wharf answers with a downloadUrl where it cannot answer with bytes.',
    '2532-30': 'Wharf gives and fetches download URLs by https only, except on a loopback address.',
    '2532-31': 'Wharf streams a file only to its owner.',
    '2532-32': 'Wharf lets a download URL expire.',
    '2532-33': "Wharf sends its credentials to a download URL only on the server's own origin.",
    '2532-34': 'Wharf answers a download URL with the headers of a stream.',
  }),
  from(section('response-mode-summary'), {
    '2532-35': 'Wharf prefers bytes to a download URL.',
  }),
  from(section('error-handling'), {
    '2532-16': 'Wharf answers a failed resources/stream with a JSON-RPC error and HTTP status 200.',
    '2532-36': 'Wharf says which resource is not there.',
    '2532-37': 'Wharf says which resource cannot be streamed.',
    '2532-38': 'Wharf says that a resource is too large.',
    '2532-39': 'Wharf answers with an internal error where the server fails before the first byte.',
  }),
  from(section('6-error-handling'), {
    '2532-40': 'Wharf breaks the body off when a stream fails after its first byte.',
    '2532-41': 'Wharf never takes a body that ended too early for the file.',
    '2532-42': 'Wharf tells by the status of a download whether it succeeded, has expired or was never there.',
    '2532-43': 'Wharf answers range requests of downloads.',
    '2532-44': 'Wharf asks the server again where its download URL has expired.',
    '2532-45': 'Wharf tries a failed download once more.',
  }),
  from(section('streamable-http-transport-extension'), {
    '2532-46': 'Wharf answers no method but resources/stream with bytes.',
  }),
  from(section('streamable-http-primary-target'), {
    '2532-47': 'Wharf accepts every media type in its requests to servers.',
  }),
  from(section('websocket-transport'), {
    '2532-49': ['Wharf answers with a download URL over WebSocket.', 'superseded by the design'],
  }),
  from(section('stdio-transport'), {
    '2532-51': 'Wharf declares no streaming to a client over stdio.',
  }),
  from(section('relationship-to-resourcesread'), {
    '2532-52': 'Wharf answers resources/read for resources that it can stream as well.',
  }),
  from(section('subscriptions'), {
    '2532-53': 'Wharf asks the server anew for every stream, so that subscribers get the current bytes.',
  }),
  from(section('new-attack-surfaces'), {
    '2532-54': 'Wharf gives download URLs that cannot be guessed.',
    '2532-56': 'Wharf checks the download URL of a server against its origin and the allowed ones.',
    '2532-66': "Wharf shows no client a server's own download URL.",
  }),
  from(section('privacy-considerations'), {
    '2532-55': 'Wharf puts no name, user or resource into a download URL.',
    '2532-58': 'Wharf forbids caches to store a download, and browsers to guess its type.',
  }),
  from(section('transport-security'), {
    '2532-57': 'Wharf checks the certificate of a download URL as it checks that of the server.',
  }),
  from(DIALECTS, {
    '2532-03': 'Wharf understands both true and an object as the declaration of streaming.',
    '2532-20': "Wharf reads a server's JSON answer from an event stream as well.",
    '2532-48': 'Wharf gives a download URL to a client whose Accept header excludes the bytes.',
    '2532-50': 'Wharf answers with a download URL in a batch and over the transports that cannot carry bytes.',
    '2532-59': 'Wharf compresses no stream and no download.',
    '2532-60': 'Wharf streams what a server only lets clients read.',
    '2532-61': 'Wharf answers resources/read with what a server only streams.',
    '2532-62': 'Wharf delivers JSON and event streams by a download URL.',
    '2532-63': 'Wharf ends a stream at the server when the client leaves.',
    '2532-64': 'Wharf answers HEAD of a download with its headers.',
    '2532-65': 'Wharf states the digest of a download that comes from its store.',
  }),
);
