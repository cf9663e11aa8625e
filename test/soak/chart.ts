/** One curve over time. */
interface Curve {
  name: string;
  /** Any CSS colour. */
  colour: string;
  points: readonly { at: number; value: number }[];
}

/** Curves that share a scale. */
interface Panel {
  title: string;
  unit: string;
  curves: readonly Curve[];
}

/** A stretch of time with a name, drawn as a ground. */
export interface Stretch {
  name: string;
  from: number;
  to: number;
  colour: string;
}

const WIDTH = 900;
const PANEL = 120;
const GAP = 46;
const LEFT = 70;
const RIGHT = 20;
/** So few points per curve that the file stays small; each is the highest of its stretch, so that no peak is lost. */
const COLUMNS = 150;

const INK = '#1f2328';
const text = (x: number, y: number, words: string, more = '') =>
  `<text x="${x}" y="${y}"${more}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

/** The highest value of each column, at the column's middle. */
function thinned(points: Curve['points'], end: number): { column: number; value: number }[] {
  const highest = new Map<number, number>();
  for (const { at, value } of points) {
    if (Number.isNaN(value)) continue;
    const column = Math.min(COLUMNS - 1, Math.floor((at / end) * COLUMNS));
    highest.set(column, Math.max(highest.get(column) ?? 0, value));
  }
  return [...highest].sort(([a], [b]) => a - b).map(([column, value]) => ({ column, value }));
}

/** 1, 2 or 5 times a power of ten: the least of them that holds the value. */
export function ceiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((times) => times * power).find((candidate) => candidate >= value) ?? value;
}

function drawPanel(panel: Panel, top: number, end: number): string[] {
  const curves = panel.curves.map((curve) => ({ ...curve, thin: thinned(curve.points, end) }));
  const highest = ceiling(Math.max(1, ...curves.flatMap(({ thin }) => thin.map(({ value }) => value))));
  const x = (column: number) => Math.round(LEFT + ((column + 0.5) / COLUMNS) * (WIDTH - LEFT - RIGHT));
  const y = (value: number) => Math.round(top + PANEL - (value / highest) * PANEL);
  const lines = [0, 0.5, 1].flatMap((part) => [
    `<path d="M${LEFT} ${y(highest * part)}H${WIDTH - RIGHT}" stroke="#d0d7de"/>`,
    text(LEFT - 8, y(highest * part) + 4, String(highest * part), ' text-anchor="end"'),
  ]);
  const names = curves
    .map(({ name, colour }) => `<tspan fill="${colour}" font-weight="bold" dx="14">${name}</tspan>`)
    .join('');
  const drawn = curves.map(
    ({ colour, thin }) =>
      `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${thin.map(({ column, value }) => `${x(column)},${y(value)}`).join(' ')}"/>`,
  );
  const title = `<text x="${LEFT}" y="${top - 8}">${panel.title}, ${panel.unit}${names}</text>`;
  return [title, ...lines, ...drawn];
}

/** An SVG that is the same for the same values, readable on a light and on a dark page. */
export function drawChart(panels: readonly Panel[], stretches: readonly Stretch[], end: number): string {
  const height = panels.length * (PANEL + GAP) + 40;
  const x = (at: number) => Math.round(LEFT + (at / end) * (WIDTH - LEFT - RIGHT));
  const bottom = height - 36;
  const grounds = stretches.flatMap(({ name, from, to, colour }) => [
    `<rect x="${x(from)}" y="16" width="${x(to) - x(from)}" height="${bottom - 16}" fill="${colour}"/>`,
    text(Math.round((x(from) + x(to)) / 2), 12, name, ' text-anchor="middle"'),
  ]);
  const minutes = Array.from({ length: Math.floor(end / 60) + 1 }, (_, minute) =>
    text(x(minute * 60), height - 20, `${minute}`, ' text-anchor="middle"'),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="${INK}">`,
    `<title>${panels.map(({ title }) => title).join('; ')}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...grounds,
    ...panels.flatMap((panel, place) => drawPanel(panel, 40 + place * (PANEL + GAP), end)),
    ...minutes,
    text(WIDTH - RIGHT, height - 6, 'minutes', ' text-anchor="end"'),
    '</svg>',
    '',
  ].join('\n');
}
