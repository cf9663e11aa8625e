import { from, proposal, type Rows, together } from './row.js';

/** Of https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2631. */
const TEXT = proposal('c3cf0ebae28c86fc09c1f1db46e5e558911376bb', '2631-file-objects-and-transfer');
const section = (anchor: string) => `${TEXT}#${anchor}`;

/** File objects and transfer: the revision that counts. */
export const SEP_2631: Rows = together(
  from(section('1-design-principles'), {
    '2631-01': 'Wharf moves files wherever it is reached, behind a path prefix as well.',
    '2631-02': 'Wharf shows every file argument as a URI string.',
    '2631-03': 'Wharf asks for no file that the call already has.',
    '2631-04': 'Wharf declares every file argument with the keyword.',
    '2631-05': 'Wharf lets one URI stand for one sequence of bytes.',
  }),
  from(section('2-capabilities'), {
    '2631-06': 'Wharf declares to servers that it can upload and download files.',
    '2631-07': 'Wharf answers the file methods for every client.',
    '2631-08': 'Wharf uses https as the only transport, and ignores others.',
  }),
  from(section('uri-namespaces'), {
    '2631-09': 'Wharf gives file URIs a scheme of their own.',
    '2631-10': "Wharf never reads a server's file URI as a resource.",
    '2631-11': 'Wharf answers a request to read its own file URI itself, and never asks the server for it.',
    '2631-12': 'Wharf takes an inline file as a data: URI.',
    '2631-13': 'Wharf takes an uploaded file as the URI that authorizeUpload gave.',
    '2631-18': 'Wharf takes its own URIs in every file argument.',
    '2631-19': 'Wharf checks a file URI before it asks the server.',
  }),
  from(section('4-file-input-values-and-file-outputs'), {
    '2631-20': 'Wharf writes and reads digests as SHA-256 in base64url without padding.',
    '2631-21': 'Wharf takes the digest of all bytes of a file, whatever range is read.',
    '2631-44': 'Wharf states all that it knows of a file beside its URI.',
  }),
  from(section('5-declaring-file-valued-inputs'), {
    '2631-14': 'Wharf takes a file in every way where the argument names no transferModes.',
    '2631-15': 'Wharf puts the file inside the call where the server allows nothing else.',
    '2631-16': 'Wharf uploads the file, and refuses a data: URI, where the server allows uploads only.',
    '2631-22': 'Wharf puts the keyword only where SEP-2356 allows it, and on the items of an array.',
    '2631-23': 'Wharf writes the transferModes of an argument into the keyword.',
    '2631-24': 'Wharf applies maxSize to inline and to uploaded files.',
    '2631-25': 'Wharf writes the name of an uploaded file into the companion argument.',
    '2631-26': 'Wharf refuses a call whose file its server cannot take in any allowed way.',
  }),
  from(section('6-upload-negotiation'), {
    '2631-27': 'Wharf takes each parameter of files/authorizeUpload as optional, and refuses malformed ones.',
    '2631-28': 'Wharf tells servers the name, the type, the size and the digest of an upload.',
    '2631-29': 'Wharf answers files/authorizeUpload with the file and a descriptor of the upload.',
    '2631-30': 'Wharf repeats what the client announced of the file.',
    '2631-31': 'Wharf uploads by PUT, by POST and by form, as the descriptor says.',
    '2631-36': 'Wharf refuses an upload whose bytes do not have the announced digest.',
    '2631-39': "Wharf compares a server's digest with that of the bytes it sent.",
    '2631-40': 'Wharf needs no authorization for a file inside the call.',
  }),
  from(section('7-tool-invocation-with-files'), {
    '2631-41': 'Wharf refuses paths and storage names in file arguments.',
  }),
  from(section('8-file-outputs'), {
    '2631-42': 'Wharf gives clients that declare files.download the files of a result as file objects.',
    '2631-45': 'Wharf compares the bytes of a downloaded file with its stated size and digest.',
    '2631-46': 'Wharf answers files/authorizeDownload with the file and a descriptor of the download.',
    '2631-47': 'Wharf authorizes a download as often as it is asked.',
    '2631-49': ['Wharf adds a resource link to a file object.', 'optional'],
    '2631-50': 'Wharf delivers the files of results without resources/read.',
    '2631-51': 'Wharf refuses unknown, foreign and expired URIs.',
    '2631-52': 'Wharf reports a file that the server no longer has.',
  }),
  from(section('9-resource-reads'), {
    '2631-53': 'Wharf reads file-backed resource contents, and gives them to the clients that declare files.',
  }),
  from(section('10-error-handling'), {
    '2631-38': 'Wharf gives a wrong size, digest and type a reason each.',
    '2631-54': 'Wharf answers an unknown file method with code -32601.',
    '2631-55': 'Wharf answers bad parameters with code -32602.',
    '2631-56': 'Wharf answers its own failures with code -32603.',
    '2631-57': 'Wharf states the limit and the actual size in an error.',
  }),
  from(section('security-implications'), {
    '2631-58': 'Wharf limits a descriptor to one file and a short time.',
    '2631-59': 'Wharf follows no insecure descriptor.',
    '2631-60': 'Wharf checks the type of a file by its bytes.',
    '2631-61': 'Wharf shows on the page of an upload which server the file is for.',
    '2631-62': 'Wharf gives models references in place of large files.',
    '2631-63': 'Wharf does not replace a data: URI that a model typed.',
    '2631-64': 'Wharf limits the size of a file inside a call.',
  }),
  from('docs/reference/dialects.md', {
    '2631-17': 'Wharf ignores transferModes that it does not know.',
    '2631-43': 'Wharf sends file blocks only to clients that declare files.download.',
    '2631-48': 'Wharf answers a download with status 200, and never with a redirect.',
    '2631-65': 'Wharf advertises its file methods under a name of its own.',
    '2631-66': 'Wharf asks a server once whether it knows the file methods.',
    '2631-67': 'Wharf takes file URIs in the answers to elicitations.',
    '2631-68': 'Wharf limits what one principal may store.',
    '2631-69': 'Wharf says of a URI whose file is not there yet that the upload is not complete.',
    '2631-70': 'Wharf authorizes the download of URIs that it passed through in results.',
    '2631-71': 'Wharf keeps a changed result within the output schema that it shows.',
  }),
  from('docs/reference/upload-links.md', {
    '2631-35': 'Wharf takes an upload by its address alone, without a credential of the MCP connection.',
    '2631-37': 'Wharf refuses an upload whose size is not the announced one.',
  }),
  from('SECURITY.md', {
    '2631-32': 'Wharf writes the Content-Type and the boundary of a form itself.',
    '2631-33': 'Wharf refuses a descriptor that sets dangerous headers.',
    '2631-34': 'Wharf adds no credential to the address of a descriptor.',
  }),
);
