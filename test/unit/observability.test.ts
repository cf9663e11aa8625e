import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ERROR_TABLE } from '../../gateway/errors.js';
import { createMetrics, OWN_METRICS } from '../../gateway/http/metrics.js';
import { ROOT } from '../helpers/tree-copy.js';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
}

const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const alerts = parse(await read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = alerts.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(await read('deploy/grafana/wharf.json')) as { panels: Panel[] };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);
const expressions = [...rules.map(({ alert, expr }) => [alert, expr] as const), ...queries];

/** What prom-client itself counts of a process, and what Prometheus and its operator add to everything that they scrape. */
const scraped = await createMetrics().text();
const ofProcess = [...scraped.matchAll(/^# TYPE ((?:process|nodejs)_\w+)/gm)].map(([, name]) => String(name));
const ADDED = ['instance', 'job', 'namespace'];

/** The metrics of an expression, each with the labels that it is filtered by. */
function usesIn(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b((?:wharf|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', filter = '']) => ({
    name,
    labels: [...filter.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => String(label)),
  }));
}

describe.each(expressions)('%s asks for what there is', (_title, expr) => {
  it('metrics and labels', () => {
    const uses = usesIn(expr);
    expect(uses.length).toBeGreaterThan(0);
    for (const { name, labels } of uses) {
      expect([...Object.keys(OWN_METRICS), ...ofProcess]).toContain(name);
      const known = [...(OWN_METRICS[name] ?? []), ...ADDED];
      expect(labels.filter((label) => !known.includes(label))).toEqual([]);
    }
    const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    const all = uses.flatMap(({ name }) => [...(OWN_METRICS[name] ?? []), ...ADDED]);
    expect(kept.filter((label) => !all.includes(label))).toEqual([]);
  });

  it('codes of errors', () => {
    const codes = [...expr.matchAll(/\b(?:code=~?|outcome!~)"([^"]+)"/g)].flatMap(([, list = '']) => list.split('|'));
    const others = codes.filter((code) => !(code in ERROR_TABLE));
    expect(others.filter((outcome) => !/^(ok|client_gone|http_\d+)$/.test(outcome))).toEqual([]);
  });
});

describe('the alerts', () => {
  it('do not add up over several Wharfs: a server that one of them reaches may be down for another', () => {
    const sums = rules.flatMap(({ expr }) => expr.match(/\b(?:sum|max|min)\b(?: by)? \([^)]*/g) ?? []);
    expect(sums.length).toBeGreaterThan(7);
    expect(sums.filter((sum) => !/ by \(namespace, job, \w/.test(sum))).toEqual([]);
  });

  it('see the first event: what they watch for an increase is there with 0 from the start', () => {
    const watched = rules.flatMap(({ expr }) => {
      const series = /\b(?:increase|rate)\((wharf_\w+)\{(\w+)=~?"([^"]+)"\}\[\w+\]\)\)? > 0$/.exec(expr);
      return series ? (series[3] as string).split('|').map((value) => `${series[1]}{${series[2]}="${value}"} 0`) : [];
    });
    expect(watched).toContain('wharf_scans_total{outcome="infected"} 0');
    expect(watched).toHaveLength(9);
    for (const series of watched) expect(scraped.split('\n')).toContain(series);
  });

  it('leave out callers past their own limits where they look for failures, among which they would be, and of all', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'WharfManyFailures') ?? {};
    const ofCallers = ['requests_limited', 'rate_limited', 'day_quota_used', 'storage_full'];
    const leftOut = [...expr.matchAll(/outcome!~"([^"]+)"/g)].map(([, list = '']) => list.split('|'));
    expect(leftOut).toHaveLength(2);
    for (const codes of leftOut) expect(codes).toEqual(expect.arrayContaining(ofCallers));
  });

  it('do not take what a Wharf refuses while it shuts down for a failure', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'WharfManyFailures') ?? {};
    const [failures = ''] = expr.split('/');
    expect(/outcome!~"([^"]+)"/.exec(failures)?.[1]?.split('|')).toContain('draining');
  });

  it('see that the object store keeps what is removed, which no client is told', () => {
    const watched = rules.flatMap(
      ({ expr }) => /object_store_errors_total\{operation=~"([^"]+)"/.exec(expr)?.[1] ?? [],
    );
    expect(watched).toEqual(['remove|abort|list']);
  });

  it('do not take another program for Wharf where they ask for what every process counts', () => {
    const shared = rules.filter(({ expr }) => /\b(?:process|nodejs)_/.test(expr));
    expect(shared.map(({ alert }) => alert).toSorted()).toEqual(['WharfDescriptorsRunOut', 'WharfEventLoopSlow']);
    for (const { expr } of shared) expect(expr).toMatch(/ and on \(namespace, job, instance\) wharf_build_info$/);
  });

  it('see a server that takes connections and answers nothing, which its clients leave before it fails', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'WharfServerSilent') ?? {};
    expect(usesIn(expr).map(({ name }) => name)).toEqual(['wharf_exchanges_total', 'wharf_exchanges_total']);
    expect(expr).toContain('outcome="client_gone"');
  });

  it('see that the last replica has gone, which counts nothing any longer', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'WharfGone') ?? {};
    expect(expr).toMatch(/present_over_time\(wharf_build_info\[\w+\]\)\) unless .*\(wharf_build_info\)$/);
  });

  it('say how bad it is, what it is, and what it means', () => {
    for (const { labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary.length).toBeGreaterThan(10);
      expect(annotations.description).toMatch(/\.$/);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});

describe('the dashboard', () => {
  it('shows its panels beside each other and not on each other', () => {
    const taken = new Set<string>();
    for (const { gridPos, title } of dashboard.panels) {
      const { x, y, w, h } = gridPos;
      expect([title, x + w <= 24]).toEqual([title, true]);
      for (let row = y; row < y + h; row += 1) {
        for (let column = x; column < x + w; column += 1) {
          expect([title, taken.has(`${row}:${column}`)]).toEqual([title, false]);
          taken.add(`${row}:${column}`);
        }
      }
    }
  });
});

describe('OPERATIONS.md', () => {
  it('explains every metric of Wharf and every alert', async () => {
    const text = await read('OPERATIONS.md');
    const names = [
      ...Object.keys(OWN_METRICS).map((name) => name.replace(/_(?:bucket|count|sum)$/, '')),
      ...rules.map(({ alert }) => alert),
    ];
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('names no metric that there is not', async () => {
    const named = [...(await read('OPERATIONS.md')).matchAll(/`(wharf_\w+)`/g)].map(([, name]) => String(name));
    const known = Object.keys(OWN_METRICS).map((name) => name.replace(/_(?:bucket|count|sum)$/, ''));
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});
