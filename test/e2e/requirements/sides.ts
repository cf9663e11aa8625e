import { from, type Rows, together } from './row.js';

/** The matrix’s sides: clients by what they send, servers by what they take and give. */
export const SIDES: Rows = together(
  from('docs/reference/dialects.md', {
    K1: 'Wharf takes files from clients of SEP-2631 by upload.',
    K2: 'Wharf takes files from clients of SEP-2356 as data: URIs.',
    K3: 'Wharf takes files from clients of the older revisions of SEP-2356, with the name inside the URI.',
    K5: 'Wharf takes files from clients of openai/fileParams by fetching their address.',
    K9: 'Wharf serves a client that only streams resources with handles for its arguments.',
    K10: 'Wharf takes a handle that a client passes on from an earlier result.',
    P1: 'Wharf gives a server that takes base64 the bytes as base64.',
    P3: 'Wharf gives a server of SEP-2356 a data: URI.',
    P4: 'Wharf gives a server of the oldest revisions of SEP-2356 a data: URI with the name inside.',
    P5: 'Wharf gives a server of the revisions between the name in the argument that filenameProperty names.',
    P6: "Wharf uploads to a server of SEP-2631, and passes that server's own URI in the call.",
    P7: 'Wharf uses the older method names and shapes with a server of the older revisions of SEP-2631.',
    P8: 'Wharf tells a server that wants to know when an upload is complete.',
    P9: 'Wharf gives a server of openai/fileParams an object with a link of its own.',
    P13: 'Wharf passes calls to a server without files on byte for byte.',
    Q4: 'Wharf leaves links to resources of the server as they are, and serves those resources.',
    Q6: 'Wharf fetches the files of SEP-2631 in results, and gives them handles of its own.',
    Q7: 'Wharf fetches the files of the older revisions of SEP-2631 as well.',
    Q8: 'Wharf passes streamed resources on.',
    Q10: 'Wharf leaves the objects of openai/fileParams in results as they are.',
  }),
  from('docs/explanation/asking.md', {
    K4: 'Wharf gives clients of binary elicitation an endpoint for the file.',
    K6: 'Wharf sends clients that open pages to the upload page.',
    K7: 'Wharf shows no file field to clients whose forms have none.',
    P2: 'Wharf answers the binary elicitation of a server with an upload.',
    P12: ['Wharf passes the requests of servers to open pages of their own on.', 'elicitation'],
  }),
  from('docs/reference/upload-links.md', {
    K8: 'Wharf gives clients that declare nothing an upload link and a handle.',
  }),
  from('docs/how-to/connect-a-host.md', {
    K11: ['Wharf serves Codex as it is, by upload links and handles.', 'host rule'],
  }),
  from('https://github.com/openai/codex/pull/28337', {
    K12: 'Wharf serves Codex with the file transfer that was proposed for it.',
  }),
  from('CONFIG.md', {
    P10: 'Wharf gives a server that takes a path a private file that is gone after the call.',
    P11: 'Wharf gives a server that takes a link a link under which it finds the bytes.',
    Q9: 'Wharf replaces base64 in structuredContent by a link where the schema allows it.',
    Q11: ['Wharf reads files that a local server names by path.', 'superseded by the design'],
  }),
  from('docs/reference/messages.md', {
    Q1: 'Wharf replaces large images and audio in results by links.',
    Q2: 'Wharf replaces large embedded blobs by links.',
    Q3: ['Wharf replaces long embedded texts by links.', 'superseded by the design'],
    Q5: 'Wharf answers resources/read with the contents, and with a link where they are too long.',
    Q12: 'Wharf leaves links in texts as they are.',
  }),
);
