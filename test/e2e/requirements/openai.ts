import { from, type Rows, together } from './row.js';

/** `openai/fileParams`. */
export const OPENAI: Rows = together(
  from('https://developers.openai.com/apps-sdk/reference', {
    'OAI-01': 'Wharf lists the file arguments of a tool by name in its _meta["openai/fileParams"].',
    'OAI-02': 'Wharf lifts a nested file argument to the top level for clients that only look there.',
    'OAI-03': 'Wharf describes a file argument as an object with four text members.',
    'OAI-04': 'Wharf requires download_url and file_id of that object, and nothing else.',
    'OAI-05': 'Wharf describes an argument for several files as an array of such objects.',
    'OAI-06': 'Wharf accepts an object that has only the two required members.',
    'OAI-14': 'Wharf gives such a client the files of a result as objects with a download_url.',
    'OAI-15': 'Wharf passes on a declaration of the server unchanged to such clients.',
    'OAI-17': ['Wharf does not hinder Codex from showing its model a local path for the object.', 'host rule'],
    'OAI-18': 'Wharf refuses an address on a host that the operator does not allow, such as one that a model made up.',
    'OAI-19': 'Wharf changes nothing for other clients because of the declaration.',
  }),
  from('docs/reference/dialects.md', {
    'OAI-07': 'Wharf tolerates further members in the object.',
    'OAI-08': 'Wharf fetches the address at once, and gives the server the bytes in the form that it takes.',
    'OAI-12': 'Wharf takes the type that the client states, else that of the response header, else that of the bytes.',
    'OAI-13': 'Wharf writes the file name into the companion argument.',
    'OAI-16': 'Wharf shows other clients a URI argument, and makes the object for the server itself.',
  }),
  from('SECURITY.md', {
    'OAI-09':
      'Wharf treats the address as a credential: it fetches the file before the call, and never logs the address.',
    'OAI-10': 'Wharf fetches no private address and no http: address, and follows at most three redirects.',
    'OAI-11': 'Wharf breaks off a download that is larger than its limit.',
  }),
);
