import { from, proposal, type Rows, together } from './row.js';

/** Of https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2356. */
const TEXT = proposal(
  '74729acfba08ef93b5831e73e46dcafc42e8eb86',
  '2356-declarative-file-inputs-for-tools-and-elicitation',
);
const section = (anchor: string) => `${TEXT}#${anchor}`;

/** Declared file inputs: the revision that counts. */
export const SEP_2356: Rows = together(
  from(section('mcp-json-schema-vocabulary'), {
    '2356-01': 'Wharf defines no x-mcp keyword of its own.',
    '2356-02': 'Wharf passes unknown keywords on unchanged.',
  }),
  from(section('the-x-mcp-file-extension-keyword'), {
    '2356-03': 'Wharf puts the keyword only on strings of the format uri.',
    '2356-04': 'Wharf writes accept and maxSize into the keyword, each in its type.',
    '2356-05': 'Wharf shows types, ranges of types and endings in accept, in their order.',
    '2356-06': 'Wharf leaves accept out where the argument takes any type.',
    '2356-07': "Wharf compares maxSize with the number of the file's decoded bytes.",
    '2356-08': 'Wharf publishes its own inline limit as maxSize where the server names none.',
    '2356-09': 'Wharf takes a keyword on a string without a format for a file, and ignores one on anything else.',
    '2356-10': 'Wharf removes a malformed keyword, and keeps the tool and the argument.',
    '2356-11': 'Wharf tells a client that leaves a required file out how to hand it over.',
    '2356-12': 'Wharf does not check a file argument against the format uri.',
    '2356-13': 'Wharf puts file fields into forms for clients that know them.',
    '2356-30': 'Wharf takes the endings in accept for hints, and compares the types only.',
    '2356-50': ['Wharf warns before it sends a large payload inline.', 'superseded by the design'],
  }),
  from(section('wire-encoding'), {
    '2356-14': 'Wharf gives a server the file as a data: URI.',
    '2356-15': 'Wharf writes application/octet-stream where the type is unknown.',
    '2356-16': 'Wharf encodes a data: URI as padded base64.',
    '2356-17': 'Wharf reads data: URIs in base64 and in percent-encoding.',
    '2356-18': 'Wharf refuses and never fetches a URI of another scheme, except a handle of its own.',
    '2356-19': 'Wharf writes the name of a file into the companion argument.',
  }),
  from(section('host-integration-on-the-tool-surface'), {
    '2356-20': 'Wharf describes a file argument so that models put no bytes there.',
    '2356-21': 'Wharf takes the word @attach for a file that is still missing.',
    '2356-22': 'Wharf repeats no argument value in a result or a log.',
    '2356-23': 'Wharf gives the server the whole value.',
    '2356-24': "Wharf forwards a client's data: URI as it is.",
    '2356-25': ['Wharf declines a form with a file field where the client has no forms.', 'elicitation'],
    '2356-51': 'Wharf never fills an empty argument with a file that its user did not choose for it.',
    '2356-52': 'Wharf shows every property of a tool to every client.',
  }),
  from(section('client-side-validation'), {
    '2356-26': "Wharf sends a server no file that is larger than the server's limit.",
    '2356-53': 'Wharf refuses an upload of a type that the argument does not accept.',
  }),
  from(section('large-files'), {
    '2356-33': ['Wharf asks for a large file by a request to open the upload page.', 'elicitation'],
    '2356-34': ['Wharf answers with code -32042 where a page has to be opened first.', 'optional'],
  }),
  from(section('server-side-validation'), {
    '2356-28': 'Wharf applies the limits of an argument to the answers of forms as well.',
    '2356-29': 'Wharf compares media types without case and parameters.',
  }),
  from(section('tool-calls'), {
    '2356-27': 'Wharf refuses a file by a tool error that names the argument, the constraint and the numbers.',
  }),
  from(section('elicitation-results'), {
    '2356-35': 'Wharf asks for a file by a form inside the result of a call on 2026-07-28.',
    '2356-36': 'Wharf asks again for a file that does not fit, and says why.',
    '2356-37': 'Wharf reports an unfit file as no JSON-RPC error.',
    '2356-38': 'Wharf answers malformed inputResponses, and the requestState of another call, with a JSON-RPC error.',
    '2356-39': ['Wharf remembers the valid fields of a form, and asks only for the others again.', 'elicitation'],
  }),
  from(section('server-side-handling'), {
    '2356-31': 'Wharf does not trust the media type of a data: URI, and looks at the bytes.',
    '2356-32': 'Wharf enforces accept itself for every client.',
    '2356-55': 'Wharf records no origin for a value that came inside a call.',
    '2356-56': 'Wharf unpacks and expands nothing that is in a file.',
  }),
  from(section('backward-compatibility'), {
    '2356-40': 'Wharf takes data: URIs from every client.',
    '2356-41': 'Wharf keeps the list of required arguments as the server has it.',
  }),
  from(section('implementation-notes'), {
    '2356-42': 'Wharf shows schemas that a strict validator accepts once it knows the keyword.',
  }),
  from(section('file-content-reaching-the-model'), {
    '2356-43': ['Wharf adds nothing that tells a model to obey the contents of a file.', 'host rule'],
  }),
  from(section('why-not-contentencoding--contentmediatype'), {
    '2356-44': 'Wharf keeps the contentMediaType of a schema.',
  }),
  from(section('why-not-prompts'), {
    '2356-45': 'Wharf adds no file arguments to prompts.',
  }),
  from(section('host-side-file-access-protecting-the-user-from-the-server'), {
    '2356-46': 'Wharf shows on the upload page which server and tool get the file.',
    '2356-47': 'Wharf opens no path that stands in an argument.',
    '2356-54': 'Wharf keeps nothing of a file that came inside a call.',
  }),
  from('docs/reference/dialects.md', {
    '2356-48': 'Wharf stores the same file of repeated calls once.',
    '2356-49': 'Wharf takes plain base64 for an argument in which the server takes base64.',
  }),
);
