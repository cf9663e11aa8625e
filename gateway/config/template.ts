import { nearest } from './problems.js';

/** What brings the file into an object; without one of them the server would never see it. */
const CONTENT = ['base64', 'base64url', 'hex', 'dataUri', 'text', 'url', 'handle'];
const PLACEHOLDERS = [...CONTENT, 'mime', 'name', 'size', 'sha256'];

/** Why a value cannot be the template of an `object` argument; undefined when it can. */
export function templateProblem(template: unknown): string | undefined {
  const texts: string[] = [];
  const odd = collect(template, texts);
  if (odd !== undefined) return odd;
  for (const text of texts) {
    const word = /^\$(\w+)$/.exec(text)?.[1];
    if (word === undefined || PLACEHOLDERS.includes(word)) continue;
    const near = nearest(word, PLACEHOLDERS);
    const known = PLACEHOLDERS.map((name) => `$${name}`).join(', ');
    const hint = near === undefined ? `known are ${known}` : `did you mean $${near}?`;
    return `holds ${text}, which stands for nothing; ${hint} ($${text} is the text itself)`;
  }
  const bringsFile = texts.some((text) => namesIn(text).some((name) => CONTENT.includes(name)));
  if (bringsFile) return undefined;
  return `must hold the file: one of ${CONTENT.map((name) => `$${name}`).join(', ')}`;
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\$\$|\$(\w+)/g)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/** Gathers the texts of a JSON value; YAML can also spell numbers that JSON has not. */
function collect(value: unknown, texts: string[]): string | undefined {
  if (typeof value === 'string') texts.push(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be JSON, which has no such number';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const odd = collect(item, texts);
    if (odd !== undefined) return odd;
  }
  return undefined;
}
