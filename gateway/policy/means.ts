/** Ways to ask a person for a file, by their names in the config; the best first. */
export const MEANS = ['binary', 'form', 'url'] as const;

/**
 * `binary`: the client itself uploads what its user has chosen (SEP-1306). `form`: the file is in a field of a form
 * (SEP-2356). `url`: the user is sent to the page for the upload.
 */
export type Means = (typeof MEANS)[number];
