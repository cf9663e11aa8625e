/** Characters without a meaning for a shell or curl, except at the beginning. */
const PLAIN = /^[A-Za-z0-9_+=:@%^/][A-Za-z0-9._+=:@%^/-]*$/;
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Prints errors but no progress; `-g`, because curl treats brackets and braces in names as patterns. */
const CURL = 'curl -sSg';

type Headers = Readonly<Record<string, string>>;

/** Quotes any text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Uploads files of the current folder as a form. @param names clean: each one path segment without control characters */
export function curlForm(names: readonly string[], url: string, headers: Headers = {}): string {
  const parts = names.map((name) => {
    // unquoted, curl ends a file name at "," and ";"
    const file = PLAIN_NAME.test(name) ? name : `"${local(name).replace(/[\\"]/g, '\\$&')}"`;
    return ` -F ${shellWord(`file=@${file}`)}`;
  });
  return `${CURL}${optionsOf(headers)}${parts.join('')} ${shellWord(url)}`;
}

/** Uploads a file of the current folder as the raw body. */
export function curlPut(name: string, url: string, headers: Headers = {}): string {
  return `${CURL}${optionsOf(headers)} -T ${shellWord(local(name))} ${shellWord(url)}`;
}

function optionsOf(headers: Headers): string {
  return Object.entries(headers)
    .map(([name, value]) => ` -H ${shellWord(`${name}: ${value}`)}`)
    .join('');
}

/** "-" and "." would mean standard input, and a leading dash an option. */
function local(name: string): string {
  return PLAIN_NAME.test(name) ? name : `./${name}`;
}

/** Saves what a link leads to under this name in the current folder; fails when the link has expired. */
export function curlSave(name: string, url: string): string {
  return `curl -fLo ${shellWord(local(name))} ${shellWord(url)}`;
}
