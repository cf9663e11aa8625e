import { toolProblems } from '../config/checks/tools.js';
import type { ServerConfig } from '../config/config.js';
import { toolsSchema } from '../config/schema/tools.js';
import { encodingFacts } from '../encodings.js';
import type { Proposal, ToolProposals } from './propose.js';
import { commentText, type YamlNode, yamlFlow, yamlLines, yamlText } from './yaml.js';

/** The outcome for one server: its tools' proposals, or why it could not be asked. */
export interface Inspected {
  server: ServerConfig;
  tools: ToolProposals[];
  failure?: string;
}

const HEAD = [
  'What "wharf inspect" makes of the tools. Read each line before it goes into wharf.yaml: an argument that is listed',
  'there is shown to clients as a file. What is only possible, or would take paths, URLs and text away from the',
  'model, is a comment.',
];

/**
 * The report: YAML that can be pasted into a config, with everything else in comments.
 * @param isWhole the servers come from the command line, so the report is a complete config
 */
export function inspectReport(inspected: readonly Inspected[], isWhole: boolean): string {
  const servers = inspected.map((one) => serverNode(one, isWhole));
  const lines = yamlLines([{ line: 'servers:', children: servers }]);
  return `${[...HEAD.map((text) => `# ${text}`), ...lines].join('\n')}\n`;
}

function serverNode({ server, tools, failure }: Inspected, isWhole: boolean): YamlNode {
  const reach = isWhole ? reachNodes(server) : [];
  const nodes = tools.map((tool) => toolNode(tool, server)).filter((node) => node !== undefined);
  const shown = nodes.filter(({ line }) => line !== undefined);
  const remarks = nodes.flatMap(({ line, comments = [] }) => (line === undefined ? comments : []));
  const rest = tools.filter((tool) => isQuiet(tool));
  const quiet =
    rest.length === 0 ? [] : [`nothing to configure: ${rest.map(({ tool }) => commentText(tool)).join(', ')}`];
  const failed = failure === undefined ? [] : [`could not be asked to the end: ${failure}`];
  const known = failure === undefined && tools.length === 0 ? ['it has no tools'] : [];
  const comments = [...failed, ...known, ...quiet, ...remarks].map((text) => `${commentText(server.name)}: ${text}`);
  if (shown.length + reach.length === 0) return { comments };
  return {
    line: `${yamlText(server.name)}:`,
    comments,
    children: [...reach, ...(shown.length === 0 ? [] : [{ line: 'tools:', children: shown }])],
  };
}

function reachNodes({ settings }: ServerConfig): YamlNode[] {
  const { url, command } = settings;
  const [key, value] = typeof url === 'string' ? ['url', url] : ['command', command];
  return [{ line: `${key}: ${yamlFlow(value)}`, isMeant: true }];
}

function isQuiet({ proposals, declared, unknown }: ToolProposals): boolean {
  return proposals.length + declared.length + unknown.length === 0;
}

function toolNode(found: ToolProposals, server: ServerConfig): YamlNode | undefined {
  if (isQuiet(found)) return undefined;
  const { tool, proposals, declared, unknown } = found;
  const known = new Set(server.tools[tool]?.files.map(({ path }) => path));
  const fresh = proposals.filter(({ file }) => !known.has(file.path));
  const comments = [
    ...unknown.map(({ path, known: others, isList }) => {
      if (isList)
        return `${tool}, ${path}: configured as one file, but the tool takes a list; write ${others.join(', or ')}`;
      const has = others.length === 0 ? 'it has none' : `it has: ${others.join(', ')}`;
      return `${tool}, ${path}: configured, but the tool has no such argument; ${has}`;
    }),
    ...declared.map(({ path, by }) => `${tool}, ${path}: declared by its server (${by}), needs no config`),
    ...proposals
      .filter((one) => !fresh.includes(one))
      .map(({ file }) => `${tool}, ${file.path}: is configured already`),
  ];
  const shown: Proposal[] = [];
  for (const proposal of fresh) {
    const why = refusalOf(tool, proposal, server) ?? clashOf(tool, [...shown, proposal], server);
    if (why === undefined) shown.push(proposal);
    else
      comments.push(`${tool}, ${proposal.file.path}: looks like a file (${proposal.reasons.join('; ')}), but ${why}`);
  }
  if (shown.length === 0) return { comments };
  return { comments, line: `${yamlText(tool)}:`, children: [{ line: 'files:', children: shown.map(fileNode) }] };
}

function fileNode({ file: { path, ...settings }, confidence, reasons, otherWays }: Proposal): YamlNode {
  // a change that stops a model from using what worked before is only proposed, as a comment
  const isAddress = encodingFacts(settings.encoding).address !== undefined;
  const takesAway = isAddress ? undefined : otherWays;
  const lost =
    takesAway === undefined ? [] : [`it takes addresses, paths or text too (${takesAway}), and would not as a file`];
  return {
    comments: [`${confidence}: ${reasons.join('; ')}`, ...lost],
    line: `${yamlText(path)}: ${yamlFlow(settings)}`,
    isMeant: confidence !== 'possible' && takesAway === undefined && !isAddress,
  };
}

/** Made once: it takes longer than all else that is said of a tool. */
const TOOLS = toolsSchema();

/** Why the config would refuse an entry. The config itself checks it, so that the output passes `wharf check`. */
function refusalOf(tool: string, { file, isAmbiguous }: Proposal, server: ServerConfig): string | undefined {
  const { path, ...settings } = file;
  if (tool === '__proto__') return 'no config can name this tool';
  if (isAmbiguous) return 'the config cannot name it: in a path dots nest, and [] is every item of a list';
  const written = { [tool]: { files: { [path]: settings } } };
  const issue = TOOLS.safeParse(written).error?.issues[0];
  if (issue !== undefined) {
    const [inner] = issue.code === 'invalid_key' ? issue.issues : [issue];
    return `the config cannot name it: ${inner?.message ?? issue.message}`;
  }
  return problemText(written, server);
}

/** Why an entry conflicts with the entries before it. */
function clashOf(tool: string, proposals: readonly Proposal[], server: ServerConfig): string | undefined {
  const configured = server.tools[tool]?.files ?? [];
  const files = [...configured, ...proposals.map(({ file }) => file)].map(({ path, ...settings }) => [path, settings]);
  return problemText({ [tool]: { files: Object.fromEntries(files) } }, server);
}

function problemText(written: Record<string, unknown>, server: ServerConfig): string | undefined {
  return toolProblems(written, [], server)[0]?.message;
}
