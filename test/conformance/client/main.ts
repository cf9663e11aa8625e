/** One client of the conformance suite: the suite starts it for each scenario, with the URL of its server. */
import { clientOf } from './scenarios.js';
import { reach, type Via } from './via.js';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_PROTOCOL_VERSION: version } = process.env;
const { MCP_CONFORMANCE_CONTEXT: context = '{}', WHARF_VIA: via = 'direct' } = process.env;
const place = await reach(process.argv.at(-1) ?? '', via as Via);
try {
  await clientOf(scenario)({ ...place, scenario, version, context: JSON.parse(context) as Record<string, string> });
} catch (error) {
  process.stderr.write(`${scenario}: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await place.stop();
}
process.exit();
