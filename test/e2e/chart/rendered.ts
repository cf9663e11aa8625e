import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../../helpers/tree-copy.js';

const SCRIPT = join(ROOT, 'deploy/test-services/helm.sh');

export const CHART = join(ROOT, 'deploy/helm/wharf');

/** An object of Kubernetes, as a chart writes it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels: Record<string, string>; annotations?: Record<string, string> };
  [member: string]: unknown;
}

/** Debian's Go and sprig, which render the chart. On a new machine they have to be fetched. */
export async function installHelm(): Promise<void> {
  await promisify(execFile)(SCRIPT, ['install']);
}

export async function valuesOf(name: string): Promise<Record<string, unknown>> {
  return parse(await readFile(join(CHART, 'ci', `${name}-values.yaml`), 'utf8')) as Record<string, unknown>;
}

/**
 * The manifests of the chart with these values, without its notes.
 * @throws Error with what `helm template` would say
 */
export async function rendered(values: object): Promise<Manifest[]> {
  const manifests = (await templates(values)).filter((text) => !isNotes(text));
  return manifests.flatMap((text) => parseAllDocuments(text, { version: '1.1' }).map(read));
}

/** What `helm install` says at its end. */
export async function notesOf(values: object): Promise<string> {
  return (await templates(values)).filter(isNotes).join('');
}

const isNotes = (text: string) => text.includes('/NOTES.txt\n');

/** Each template as text, with its source in its first lines. */
async function templates(values: object): Promise<string[]> {
  const child = spawn(SCRIPT, ['template', CHART, 'demo', 'tools']);
  const parts: Buffer[] = [];
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => parts.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => {
    said += bytes;
  });
  child.stdin.end(JSON.stringify(values));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(said);
  return Buffer.concat(parts)
    .toString()
    .split(/^(?=---\n# Source: )/m);
}

function read(document: ReturnType<typeof parseAllDocuments>[number]): Manifest {
  if (!('toJS' in document) || document.errors.length > 0) throw document.errors[0];
  return document.toJS() as Manifest;
}

/** The one manifest of a kind, and of a name if there are several. */
export function theOnly(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`${found.length} manifests of ${kind} ${name ?? ''}`);
  return only;
}
