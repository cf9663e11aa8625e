/** Characters that neither a shell nor curl gives a meaning, wherever they stand but in front. */
const PLAIN = /^[A-Za-z0-9_+=:@%^/][A-Za-z0-9._+=:@%^/-]*$/;
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Says what went wrong but shows no progress; `-g`, for curl takes brackets and braces in names for patterns. */
const CURL = 'curl -sSg';

/** One word of a POSIX shell, whatever the text is. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Uploads a file of the current folder as a form. @param name clean: one path segment without control characters */
export function curlForm(name: string, url: string): string {
  // unquoted, curl ends a file name at "," and ";"
  const file = PLAIN_NAME.test(name) ? name : `"${local(name).replace(/[\\"]/g, '\\$&')}"`;
  return `${CURL} -F ${shellWord(`file=@${file}`)} ${shellWord(url)}`;
}

/** The same as the bare bytes. */
export function curlPut(name: string, url: string): string {
  return `${CURL} -T ${shellWord(local(name))} ${shellWord(url)}`;
}

/** "-" and "." would mean standard input, and a dash in front an option. */
function local(name: string): string {
  return PLAIN_NAME.test(name) ? name : `./${name}`;
}
