import { from, proposal, type Rows, together } from './row.js';

/** Revisions of https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2356. */
const SIDECARS = proposal(
  '27031c8f0514ac657d7172f96735ea2ed3473992',
  'placeholder-declarative-file-inputs-for-tools-and-elicitation',
);
const NAME = '2356-declarative-file-inputs-for-tools-and-elicitation';
const ARRAYS = proposal('ff575426fed669ef851ea1ed2087ce29dd8088e4', NAME);
const DATA_ONLY = proposal('ef7d52ff28a6cd8223e0d95ab10f0fb639ec502c', NAME);
const DIALECTS = 'docs/reference/dialects.md';

/** Declared file inputs: the older revisions. */
export const SEP_2356_OLDER: Rows = together(
  from(`${SIDECARS}#client-capability`, {
    '2356o-01': 'Wharf shows inputFiles only to clients that declare fileInputs.',
    '2356o-26': 'Wharf declares fileInputs to servers.',
  }),
  from(
    `${proposal('872fb69a5f3dc3f50e7459e6d393e92a96e7d73a', 'placeholder-declarative-file-inputs-for-tools-and-elicitation')}#client-capability`,
    {
      '2356o-02': 'Wharf shows no inputFiles to clients that declare file fields in forms only.',
    },
  ),
  from(`${SIDECARS}#tool-file-inputs`, {
    '2356o-03': 'Wharf names in inputFiles only properties that are URIs or lists of URIs.',
    '2356o-04': 'Wharf ignores entries of a server that name no such property.',
    '2356o-05': 'Wharf compares maxSize with each file of a list.',
    '2356o-06': "Wharf keeps to the minItems and maxItems of a tool's list.",
  }),
  from(`${SIDECARS}#wire-encoding`, {
    '2356o-07': 'Wharf gives servers of the early revisions base64 only.',
    '2356o-08': 'Wharf writes the name into the data: URI as RFC 3986 spells it.',
    '2356o-10': 'Wharf ignores a name behind ;base64.',
    '2356o-11': 'Wharf takes no path and no type from a name.',
    '2356o-16': 'Wharf refuses values of other schemes.',
  }),
  from(`${SIDECARS}#elicitation-file-inputs`, {
    '2356o-27': 'Wharf names the fields of its forms in requestedFiles, for clients that declare fileInputs.',
    '2356o-28':
      "Wharf asks for the files that a server's form names in requestedFiles, in a way that its client knows.",
    '2356o-22': ['Wharf splits a list in a form for clients without lists in forms.', 'elicitation'],
  }),
  from(`${SIDECARS}#error-handling`, {
    '2356o-13': 'Wharf refuses a file of a client of the early revisions with code -32602.',
    '2356o-14': 'Wharf gives such a client the reason in the words of its revision.',
  }),
  from(`${ARRAYS}#the-mcpfile-extension-keyword`, {
    '2356o-17': 'Wharf reads the keyword under its older name, mcpFile.',
    '2356o-18': 'Wharf reads the keyword on an array, and shows it on the items.',
    '2356o-19': 'Wharf writes the name into the argument that filenameProperty names.',
    '2356o-20': 'Wharf publishes and enforces a limit for the number of files in an array.',
  }),
  from(`${ARRAYS}#elicitation-schema-extension-arrayschema`, {
    '2356o-21': [
      'Wharf asks for several files in a form only of clients that declare elicitation.arrays.',
      'elicitation',
    ],
  }),
  from(`${ARRAYS}#tool-calls`, {
    '2356o-23': "Wharf copies the reason in a server's structuredContent into _meta.",
  }),
  from(`${ARRAYS}#wire-encoding`, {
    '2356o-24': 'Wharf refuses https: and file: URIs of clients.',
  }),
  from(`${DATA_ONLY}#host-integration-on-the-tool-surface`, {
    '2356o-25': ['Wharf leaves it to the host to drop the values that a model made up.', 'host rule'],
  }),
  from(DIALECTS, {
    '2356o-09': 'Wharf reads the name wherever it stands before ;base64.',
    '2356o-12': 'Wharf gives servers of the later revisions no name inside the URI.',
    '2356o-15': 'Wharf understands those reasons from servers, and gives other clients a tool error.',
  }),
);
