// What fills the window: a treemap by tool and file, of what is left at the end and of everything that was ever said, and the
// tools as a table. Drawn without a script; where each cell stands is in `windowStyle`, as the page allows no inline styles.

import type { Category } from '../measure/composition.js';
import { groupBy } from '../measure/group-by.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCompact, formatCount, formatShare } from '../terminal/text-layout.js';
import { html, named, NOTHING } from './html.js';
import type { Markup } from './html.js';
import { LAYERS } from './report-page.js';
import type { ReportPage } from './report-page.js';
import type { WindowShare } from '../replay/recording.js';
import { treemap } from './treemap.js';
import type { Rectangle } from './treemap.js';

/** Nominal widths, in pixels: cells are placed in shares of the width, and in pixels from the top. */
const SCREENS = [
  { width: 1120, height: 380, query: '' },
  { width: 360, height: 480, query: '@media(max-width:720px)' },
] as const;

const HEAD = 20;
const MAX_TOOLS = 14;
const MAX_CELLS = 16;
const MAX_TABLE_ROWS = 60;

const SIDES = [
  ['with', 'at the end, with ctxfold'],
  ['without', 'everything that was said'],
] as const;

interface Cell {
  readonly label: string;
  /** Names a colour. */
  readonly layer: string;
  readonly tokens: number;
}

interface Group {
  readonly label: string;
  readonly tokens: number;
  /** Largest first; one alone where nothing is told apart. */
  readonly cells: readonly Cell[];
}

/** Returns the section. */
export function windowSection(page: ReportPage): Markup {
  const maps = SIDES.map(([side, title]) => ({ side, title, groups: groupsOf(page, side) }));
  if (maps.every(({ groups }) => groups.length === 0)) return NOTHING;
  return html`<section aria-labelledby="h-window">
    <h2 id="h-window">What fills the window</h2>
    <div class="maps">
      ${maps.map(
        ({ side, title, groups }, at) =>
          html`<input
              type="radio"
              name="map"
              id="show-${side}"
              ${at === 0 ? html`checked` : NOTHING}
            /><label for="show-${side}"
              >${title} <span class="faint">${formatCompact(sum(groups))}</span></label
            >`,
      )}
      ${maps.map(({ side, groups }) => mapMarkup(side, groups))}
    </div>
    <ul class="legend">
      ${page.chart.layers.map(
        ({ id, label }) => html`<li><i class="swatch c-${id}"></i>${label}</li>`,
      )}
    </ul>
    ${toolTable(page)}
  </section>`;
}

function sum(parts: readonly { readonly tokens: number }[]): number {
  return parts.reduce((total, { tokens }) => total + tokens, 0);
}

/** What is said by no tool is one cell; each tool is a group of what its calls are about. */
function groupsOf({ recording, label }: ReportPage, side: 'with' | 'without'): readonly Group[] {
  const shares = recording.shares[side].filter(({ tokens }) => tokens > 0);
  const groups = Array.from(
    groupBy(shares, ({ tool, category }) => (tool === null ? category : `tool ${tool}`)).values(),
    (group): Group => {
      const [{ tool, category }] = group;
      if (tool !== null) return { label: label.ofName(tool), ...cellsOf(group, label.ofCall) };
      const layer = layerOf(category);
      const cell = { label: layer.label, layer: layer.id, tokens: sum(group) };
      return { label: '', tokens: cell.tokens, cells: [cell] };
    },
  ).sort((a, b) => b.tokens - a.tokens);
  const rest = groups.slice(MAX_TOOLS);
  if (rest.length === 0) return groups;
  const tokens = sum(rest);
  const cell = { label: `${rest.length} more`, layer: 'other', tokens };
  return [...groups.slice(0, MAX_TOOLS), { label: '', tokens, cells: [cell] }];
}

function cellsOf(
  shares: readonly WindowShare[],
  nameOf: ReportPage['label']['ofCall'],
): Pick<Group, 'tokens' | 'cells'> {
  const byName = groupBy(shares, ({ subject }) => (subject === null ? '' : nameOf(subject)));
  const cells = Array.from(byName, ([name, parts]): Cell => {
    const [largest] = [...parts].sort((a, b) => b.tokens - a.tokens);
    const layer = layerOf(largest?.category ?? 'other').id;
    const unnamed = byName.size === 1 ? 'its calls' : 'other calls';
    return { label: name === '' ? unnamed : name, layer, tokens: sum(parts) };
  }).sort((a, b) => b.tokens - a.tokens);
  const rest = cells.slice(MAX_CELLS);
  const more = { label: `${rest.length} more`, layer: 'results', tokens: sum(rest) };
  return {
    tokens: sum(cells),
    cells: rest.length === 0 ? cells : [...cells.slice(0, MAX_CELLS), more],
  };
}

function layerOf(category: Category): (typeof LAYERS)[number] {
  const [first] = LAYERS;
  return LAYERS.find(({ categories }) => categories.includes(category)) ?? first;
}

function mapMarkup(side: string, groups: readonly Group[]): Markup {
  const total = sum(groups);
  const tell = (name: string, tokens: number): string =>
    `${printable(name)}: ${formatCount(tokens)} tokens, ${formatShare(tokens, total)}`;
  return html`<ul class="map" id="map-${side}" aria-label="Tokens by tool and file">
    ${groups.map(({ label, tokens, cells }, at) => {
      const head =
        label === ''
          ? NOTHING
          : html`<li class="head" id="${side}-${at}" title="${tell(label, tokens)}">
              ${named(label, 40)}
            </li>`;
      return html`${head}${cells.map(
        (cell, number) =>
          html`<li
            class="cell c-${cell.layer}"
            id="${side}-${at}-${number}"
            title="${tell(`${label} ${cell.label}`, cell.tokens)}"
          >
            <span>${named(shortPath(cell.label), 60)}</span>
            <small>${formatCompact(cell.tokens)}</small>
          </li>`,
      )}`;
    })}
  </ul>`;
}

/** Of a path what tells files apart: the last two parts. */
function shortPath(text: string): string {
  return /^[/~.]?[^\s]*\/[^\s]*(?: \+\d+)?$/.test(text)
    ? text.split('/').slice(-2).join('/')
    : text;
}

/** Returns the rules that put each cell in its place, for both kinds of screen. */
export function windowStyle(page: ReportPage): string {
  return SCREENS.map((screen) => {
    const rules = SIDES.flatMap(([side]) => placesOf(groupsOf(page, side), side, screen));
    return screen.query === '' ? rules.join('') : `${screen.query}{${rules.join('')}}`;
  }).join('');
}

/** Cells that are smaller say nothing. */
const MIN_TEXT = { width: 44, height: 17 };
/** Lower ones have their name alone. */
const MIN_COUNT_HEIGHT = 38;

function placesOf(
  groups: readonly Group[],
  side: string,
  { width, height }: (typeof SCREENS)[number],
): readonly string[] {
  const place = (id: string, box: Rectangle, isHead: boolean): string => {
    const percent = (part: number): string => `${Number(((part / width) * 100).toFixed(2))}%`;
    const isSmall = box.width < MIN_TEXT.width || box.height < MIN_TEXT.height;
    const hidden = isSmall && !isHead ? ';font-size:0' : '';
    const short =
      isSmall || isHead || box.height >= MIN_COUNT_HEIGHT ? '' : `#${id} small{display:none}`;
    return `#${id}{left:${percent(box.x)};top:${Math.round(box.y)}px;width:${percent(box.width)};height:${Math.round(box.y + box.height) - Math.round(box.y)}px${hidden}}${short}`;
  };
  const boxes = treemap(
    groups.map(({ tokens }) => tokens),
    { x: 0, y: 0, width, height },
  );
  return groups.flatMap(({ label, cells }, at) => {
    const box = boxes[at];
    if (box === undefined) return [];
    const hasHead =
      label !== '' && box.height > HEAD + MIN_TEXT.height && box.width > MIN_TEXT.width;
    const head = hasHead ? HEAD : 0;
    const inner = { ...box, y: box.y + head, height: box.height - head };
    const inside = treemap(
      cells.map(({ tokens }) => tokens),
      inner,
    );
    return [
      ...(label === ''
        ? []
        : [
            hasHead
              ? place(`${side}-${at}`, { ...box, height: HEAD }, true)
              : `#${side}-${at}{display:none}`,
          ]),
      ...inside.map((cell, number) => place(`${side}-${at}-${number}`, cell, false)),
    ];
  });
}

function toolTable({ recording, label }: ReportPage): Markup {
  const { toolsWithout, toolsAtEnd } = recording;
  const tools = Array.from(toolsWithout, ([name, { calls, callTokens, resultTokens }]) => {
    const before = callTokens + resultTokens;
    const left = toolsAtEnd.get(name);
    // An entry's tokens are split over its blocks by estimate: anew when it has lost some of them.
    const after = Math.min(before, (left?.callTokens ?? 0) + (left?.resultTokens ?? 0));
    return { name: label.ofName(name), calls, before, after };
  }).sort((a, b) => b.before - a.before);
  if (tools.length === 0) return NOTHING;
  return html`<details>
    <summary>The tools as a table</summary>
    <div class="scroll">
      <table id="tools">
        <caption class="hidden">
          Tokens by tool
        </caption>
        <thead>
          <tr>
            <th scope="col">tool</th>
            <th scope="col" class="number">calls</th>
            <th scope="col" class="number">said</th>
            <th scope="col" class="number">left at the end</th>
            <th scope="col" class="number">saved</th>
          </tr>
        </thead>
        <tbody>
          ${tools.slice(0, MAX_TABLE_ROWS).map(
            ({ name, calls, before, after }) =>
              html`<tr>
                <th scope="row">${named(name)}</th>
                <td class="number">${formatCount(calls)}</td>
                <td class="number">${formatCount(before)}</td>
                <td class="number">${formatCount(after)}</td>
                <td class="number">${formatShare(before - after, before)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}
