import { from, proposal, type Rows, together } from './row.js';

/** Revisions of https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2631. */
const OBJECTS = proposal('ca6b044644ccfe1409acaabae15d5a77206aa90e', '0000-file-objects-and-transfer');
const SIDECARS = proposal('34521112ddadbc92b438266edd7f1a4f3f4e327e', '2631-file-objects-and-transfer');
const PREPARED = proposal('c0a74e01723dd13ee53c33e41905f15c674446e1', '2631-file-objects-and-transfer');

/** File objects and transfer: the older revisions. */
export const SEP_2631_OLDER: Rows = together(
  from(`${PREPARED}#6-upload-negotiation`, {
    '2631o-01': 'Wharf answers files/prepareUpload as it answers files/authorizeUpload.',
  }),
  from(`${PREPARED}#8-file-outputs`, {
    '2631o-02': 'Wharf answers files/getDownload with the members of all revisions.',
  }),
  from('https://github.com/openai/codex/pull/28337', {
    '2631o-03': 'Wharf answers files/completeUpload with whether the bytes are there.',
  }),
  from(`${SIDECARS}#2-capabilities`, {
    '2631o-04': 'Wharf understands the older names of the capabilities.',
  }),
  from(`${SIDECARS}#4-file-input-values-and-file-outputs`, {
    '2631o-12': 'Wharf reads the name inside a data: URI of that revision.',
  }),
  from(`${SIDECARS}#5-declaring-file-valued-inputs`, {
    '2631o-09': 'Wharf understands maxFileSize and purpose in a declaration.',
  }),
  from(`${SIDECARS}#10-error-handling`, {
    '2631o-10': 'Wharf reads and writes the reason maxFileSizeExceeded with peers of that time.',
  }),
  from(`${SIDECARS}#8-file-outputs`, {
    '2631o-14': "Wharf takes a bare descriptor as a server's answer to files/getDownload.",
  }),
  from(`${OBJECTS}#4-file-values-and-payloads`, {
    '2631o-05': 'Wharf takes the file objects of the first revisions as inputs.',
    '2631o-06': 'Wharf gives file objects to servers that declare them.',
    '2631o-07': 'Wharf writes and checks the source of such an object.',
    '2631o-11': 'Wharf sends an inline object only to a server that declares the field.',
  }),
  from(`${OBJECTS}#5-declaring-file-valued-inputs`, {
    '2631o-08': "Wharf reads a server's declaration in _meta.",
  }),
  from(`${OBJECTS}#filevalue`, {
    '2631o-15': "Wharf reads the nested FileValue in a server's result.",
  }),
  from('docs/reference/dialects.md', {
    '2631o-13': 'Wharf finds the method that a server knows by trying the newest name first.',
    '2631o-16': ['Wharf lets the operator switch the older method names off.', 'superseded by the design'],
  }),
);
