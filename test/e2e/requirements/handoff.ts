import { from, type Rows, together } from './row.js';

/** A handle from one server as an argument of another. */
export const HANDOFF: Rows = together(
  from('docs/tutorials/recipes.md', {
    'HO-01': 'Wharf moves the bytes from server to server, and none of them pass through the client.',
    'HO-02': 'Wharf delivers a file from each kind of origin to each kind of target.',
    'HO-04': 'Wharf reads a linked resource when a call uses its handle.',
    'HO-10': 'Wharf hands over the name and the type of a file together with its bytes.',
    'HO-11': 'Wharf accepts an array with files of several servers, and keeps their order.',
    'HO-12': [
      'Wharf passes the URI of a server back to that server in place of the bytes.',
      'superseded by the design',
    ],
    'HO-18': 'Wharf leaves a handle in an argument that does not take files as it is.',
    'HO-22': ['Wharf serves a client that uploads again what it has downloaded.', 'host rule'],
  }),
  from('docs/reference/messages.md', {
    'HO-03': 'Wharf announces the handle of every file that it takes out of a result.',
    'HO-05': 'Wharf never changes the bytes that a handle stands for.',
    'HO-15': 'Wharf tells the owner of an expired handle that it has expired, and what to do next.',
    'HO-16': 'Wharf resolves a handle on every replica.',
    'HO-21': 'Wharf resolves no handle in the arguments of a prompt, and never asks a server for one as a resource.',
  }),
  from('CONFIG.md', {
    'HO-07': 'Wharf refuses a handoff that a rule of the operator forbids between two servers.',
    'HO-08': 'Wharf asks the user before it hands a file over, where a rule says so.',
    'HO-09': 'Wharf applies the limits of the target argument to a file that is handed over.',
  }),
  from('SECURITY.md', {
    'HO-06': "Wharf answers another principal's handle in the same way as an unknown one.",
    'HO-19': 'Wharf logs every handoff once.',
    'HO-20': 'Wharf grants no right to a file because a result mentions its handle.',
  }),
  from('ARCHITECTURE.md', {
    'HO-13': 'Wharf holds no file whole in memory on its way between two servers.',
    'HO-14': 'Wharf serves two calls that use one handle at the same time.',
    'HO-17': 'Wharf resolves handles in the answers to elicitations, in fields that ask for files.',
  }),
);
