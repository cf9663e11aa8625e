// Prints the section of CHANGELOG.md for a tag, which must be the version of package.json: node release-notes.mjs v1.2.3
import { readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const read = (name) => readFileSync(new URL(name, root), 'utf8');
const [tag = ''] = process.argv.slice(2);
const { version } = JSON.parse(read('package.json'));

const sections = read('CHANGELOG.md').split(/^## /m).slice(1);
const section = sections.find((text) => text.split('\n', 1)[0]?.trim() === version);
const problem =
  tag !== `v${version}`
    ? `The tag is ${tag || 'missing'}, and package.json says ${version}.`
    : section === undefined && `CHANGELOG.md has no section "## ${version}".`;
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`);
}
