import type { FileAccount } from '../../gateway/files/file.js';

/** An account that counts nothing, where what callers may store is not limited. */
export const noAccount: FileAccount = {
  fits: async () => {},
  canFit: async () => {},
  admits: async () => {},
  used: async () => {},
  holds: async () => {},
  recorded: async () => {},
  unsure() {},
  unrecorded: async () => {},
  released: async () => {},
  collapsed: async () => {},
};
