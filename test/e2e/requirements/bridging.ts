import { from, type Rows, specification, together } from './row.js';

const ASKING = 'docs/explanation/asking.md';
const LINKS = 'docs/reference/upload-links.md';
const DIALECTS = 'docs/reference/dialects.md';

/** A call that lacks its file. */
export const FALLBACK: Rows = together(
  from(ASKING, {
    'FB-01': 'Wharf asks for a missing file by a request to open the upload page.',
    'FB-02': 'Wharf holds the call while it waits for the file, and answers with the link when the time is over.',
    'FB-03': 'Wharf asks for a missing file on 2026-07-28 as well, with the same link in every round.',
    'FB-04': 'Wharf does not take the acceptance of its request for an upload.',
    'FB-05': 'Wharf ends the call and takes its link back when the user declines.',
  }),
  from(LINKS, {
    'FB-06': 'Wharf states in text what is missing and how to hand it over.',
    'FB-07': 'Wharf gives programs a descriptor of the upload beside the text.',
    'FB-10': 'Wharf writes a curl line that works as it stands.',
    'FB-11': 'Wharf tells the model not to make the file up.',
  }),
  from('docs/explanation/upload-page.md', {
    'FB-08': 'Wharf shows on the page where the file goes, and uses nothing up when the page is only opened.',
    'FB-09': 'Wharf asks for a code on the page where it tells callers apart.',
  }),
);

/** Wharf’s own tools. */
export const TOOLS: Rows = from(LINKS, {
  'ST-01': 'Wharf offers a tool that gives upload links.',
  'ST-02': ['Wharf offers a tool that reports the state of an upload.', 'superseded by the design'],
  'ST-03': ['Wharf offers a tool that takes bytes inside the call.', 'superseded by the design'],
  'ST-04': 'Wharf offers a tool that gives fresh download links.',
  'ST-05': ['Wharf offers a tool that lists the files of its caller.', 'superseded by the design'],
  'ST-06': 'Wharf renames its own tool where the server has one of the same name.',
  'ST-07': 'Wharf shows none of its own tools where the operator has turned them off.',
  'ST-08': 'Wharf keeps the answers of its own tools within the limits for inline content.',
});

/** Cells of the matrix that do not follow from its sides. */
export const CELLS: Rows = together(
  from(DIALECTS, {
    'BR-01':
      'Wharf answers the file methods itself for a client of SEP-2631, and gives a server of SEP-2356 a data: URI.',
    'BR-02':
      'Wharf stores what a client of SEP-2631 uploads, and uploads it to a server of SEP-2631 under its own URI.',
    'BR-03': 'Wharf refuses a file inside the call where the server takes uploads only.',
    'BR-07': 'Wharf streams the decoded blob of a server to a client that streams resources.',
    'BR-08': 'Wharf reads the stream of a server for a client that can only read resources.',
    'BR-09': 'Wharf gives a client that streams resources the files of SEP-2631 as resources.',
    'BR-10': 'Wharf gives a client of SEP-2631 a resource that the server only streams as a file.',
    'BR-11': 'Wharf serves every client in front of a server of openai/fileParams.',
    'BR-14': 'Wharf works in front of another Wharf without further configuration.',
    'BR-15': 'Wharf follows a server that changes its dialect, and keeps the handles that are in use.',
  }),
  from(ASKING, {
    'BR-04': 'Wharf asks clients of other dialects for the file that a server wants by binary elicitation.',
    'BR-05': 'Wharf asks clients of binary elicitation for the file that a server wants in a form.',
    'BR-06': "Wharf gives a client of binary elicitation an endpoint of its own, and never shows it the server's.",
    'BR-12': ['Wharf translates requests to open a page between peers of different eras.', 'cross-era'],
    'BR-13':
      'Wharf answers the form of a server with cancel, and its call with the link, where no user opens the page.',
  }),
  from('docs/reference/messages.md', {
    'BR-16': 'Wharf leaves an argument that does not take files as it is.',
    'BR-18': 'Wharf gives a file that stands twice in a result one handle.',
    'BR-19': "Wharf replaces a server's own URI of a file in the texts of the same result.",
  }),
  from(specification('basic/transports/streamable-http#custom-headers-from-tool-parameters'), {
    'BR-17': 'Wharf repeats no file in a header, and gives the server a header that agrees with its argument.',
  }),
  from(specification('basic/utilities/tasks', '2025-11-25'), {
    'BR-20': 'Wharf resolves the files of a task before it begins, and takes files out of its result.',
  }),
  from(
    'https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/2026-07-28/tasks.md#task-update-requests',
    {
      'BR-21': 'Wharf asks the client of a task for the files that its server wants, and gives the server the answer.',
    },
  ),
);
