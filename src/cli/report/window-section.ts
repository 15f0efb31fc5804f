// What fills the window: a treemap by tool and file, of the history at the end and of everything ever said, and the tools as a
// table. Needs no script. `windowStyle` has the positions of the cells, because the page's policy forbids inline styles.

import { CATEGORY_NAMES, sharesIn, toolDifferences } from '../measure/composition.js';
import type { BlockShare, Category } from '../measure/composition.js';
import { callOf } from '../measure/entry-difference.js';
import { groupBy, largestFirst, sumOf } from '../measure/aggregate.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCompact, formatCount, formatShare } from '../terminal/text-layout.js';
import { figureRow, headCells, html, named, NOTHING, percent, tableMarkup } from './html.js';
import type { Markup } from './html.js';
import type { RecordedContext } from '../replay/attributed-steps.js';
import type { Recording } from '../replay/recording.js';
import type { ReportPage } from './report-page.js';
import { treemap } from './treemap.js';
import type { Rectangle } from './treemap.js';

/** Nominal sizes in pixels. Horizontal positions become percentages of the width, vertical ones stay in pixels. */
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
  ['without', 'everything said'],
] as const;

interface Cell {
  readonly label: string;
  /** Selects the colour. */
  readonly category: Category;
  readonly tokens: number;
}

interface Group {
  readonly label: string;
  readonly tokens: number;
  /** Largest first. */
  readonly cells: readonly Cell[];
}

/** Returns the context that the session ended with: all of it, or what follows the agent's last own compaction. */
function lastContext({ contexts }: Recording): RecordedContext {
  return contexts.at(-1) ?? contexts[0];
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
    ${
      page.recording.contexts.length === 1
        ? NOTHING
        : html`<p>Since the agent last compacted its history by itself.</p>`
    }
    ${toolTable(page)}
  </section>`;
}

function sum(parts: readonly { readonly tokens: number }[]): number {
  return sumOf(parts, ({ tokens }) => tokens);
}

/** Returns one group per tool, with a cell per subject of its calls, and one cell per category of the rest. */
function groupsOf({ recording, label }: ReportPage, side: 'with' | 'without'): readonly Group[] {
  const { subjects, tokensOf } = recording;
  const { added, remaining } = lastContext(recording);
  const shares = sharesIn(side === 'with' ? remaining : added, tokensOf).filter(
    ({ tokens }) => tokens > 0,
  );
  const nameOf = ({ block }: BlockShare): string => {
    const subject = subjects.get(callOf(block).callId ?? '');
    return subject === undefined ? '' : label.ofCall(subject);
  };
  const all = Array.from(
    groupBy(shares, ({ tool, category }) => (tool === null ? category : `tool ${tool}`)).values(),
    (group): Group => {
      const [{ tool, category }] = group;
      if (tool !== null) return { label: label.ofName(tool), ...cellsOf(group, nameOf) };
      const tokens = sum(group);
      return { label: '', tokens, cells: [{ label: CATEGORY_NAMES[category], category, tokens }] };
    },
  );
  const groups = largestFirst(all, ({ tokens }) => tokens);
  const rest = groups.slice(MAX_TOOLS);
  if (rest.length === 0) return groups;
  const tokens = sum(rest);
  const cell: Cell = { label: `${rest.length} more`, category: 'other', tokens };
  return [...groups.slice(0, MAX_TOOLS), { label: '', tokens, cells: [cell] }];
}

function cellsOf(
  shares: readonly BlockShare[],
  nameOf: (share: BlockShare) => string,
): Pick<Group, 'tokens' | 'cells'> {
  const byName = groupBy(shares, nameOf);
  const all = Array.from(byName, ([name, parts]): Cell => {
    const [largest] = largestFirst(parts, ({ tokens }) => tokens);
    const category = largest?.category ?? 'other';
    const unnamed = byName.size === 1 ? 'its calls' : 'other calls';
    return { label: name === '' ? unnamed : name, category, tokens: sum(parts) };
  });
  const cells = largestFirst(all, ({ tokens }) => tokens);
  const rest = cells.slice(MAX_CELLS);
  const more: Cell = { label: `${rest.length} more`, category: 'tool-result', tokens: sum(rest) };
  return {
    tokens: sum(cells),
    cells: rest.length === 0 ? cells : [...cells.slice(0, MAX_CELLS), more],
  };
}

function mapMarkup(side: string, groups: readonly Group[]): Markup {
  const total = sum(groups);
  const describe = (name: string, tokens: number): string =>
    `${printable(name)}: ${formatCount(tokens)} tokens, ${formatShare(tokens, total)}`;
  return html`<ul class="map" id="map-${side}" aria-label="Tokens by tool and file">
    ${groups.map(({ label, tokens, cells }, at) => {
      const head =
        label === ''
          ? NOTHING
          : html`<li class="head" id="${side}-${at}" title="${describe(label, tokens)}">
              ${named(label, 40)}
            </li>`;
      return html`${head}${cells.map(
        (cell, number) =>
          html`<li
            class="cell c-${cell.category}"
            id="${side}-${at}-${number}"
            title="${describe(`${label} ${cell.label}`, cell.tokens)}"
          >
            <span>${named(shortPath(cell.label), 60)}</span>
            <small>${formatCompact(cell.tokens)}</small>
          </li>`,
      )}`;
    })}
  </ul>`;
}

/** Returns the last two parts of a path; other text unchanged. */
function shortPath(text: string): string {
  return /^[/~.]?[^\s]*\/[^\s]*(?: \+\d+)?$/.test(text)
    ? text.split('/').slice(-2).join('/')
    : text;
}

/** Returns the style rules that position each cell, for both screen sizes. */
export function windowStyle(page: ReportPage): string {
  const maps = SIDES.map(([side]) => ({ side, groups: groupsOf(page, side) }));
  return SCREENS.map((screen) => {
    const rules = maps.flatMap(({ side, groups }) => placesOf(groups, side, screen));
    return screen.query === '' ? rules.join('') : `${screen.query}{${rules.join('')}}`;
  }).join('');
}

function placesOf(
  groups: readonly Group[],
  side: string,
  { width, height }: (typeof SCREENS)[number],
): readonly string[] {
  const place = (id: string, box: Rectangle): string =>
    `#${id}{left:${percent(box.x, width)};top:${Math.round(box.y)}px;width:${percent(box.width, width)};` +
    `height:${Math.round(box.y + box.height) - Math.round(box.y)}px}`;
  const boxes = treemap(
    groups.map(({ tokens }) => tokens),
    { x: 0, y: 0, width, height },
  );
  return groups.flatMap(({ label, cells }, at) => {
    const box = boxes[at];
    if (box === undefined) return [];
    const id = `${side}-${at}`;
    const hasHead = label !== '' && box.height > 2 * HEAD && box.width > 2 * HEAD;
    const head = hasHead ? HEAD : 0;
    const inside = treemap(
      cells.map(({ tokens }) => tokens),
      { ...box, y: box.y + head, height: box.height - head },
    );
    return [
      ...(label === '' ? [] : [place(id, { ...box, height: head })]),
      ...inside.map((cell, number) => place(`${id}-${number}`, cell)),
    ];
  });
}

function toolTable({ recording, label }: ReportPage): Markup {
  const { added, remaining } = lastContext(recording);
  const tools = toolDifferences(
    sharesIn(added, recording.tokensOf),
    sharesIn(remaining, recording.tokensOf),
  )
    .map(({ tool, calls, callTokens, resultTokens, ...gone }) => {
      const before = callTokens + resultTokens;
      const saved = gone.reclaimedCallTokens + gone.reclaimedResultTokens;
      return { name: label.ofName(tool), calls, before, after: before - saved };
    })
    .sort((a, b) => b.before - a.before);
  if (tools.length === 0) return NOTHING;
  const head = [
    ...headCells(['tool']),
    ...headCells(['calls', 'said', 'left at the end', 'saved'], 'number'),
  ];
  const rows = tools
    .slice(0, MAX_TABLE_ROWS)
    .map(({ name, calls, before, after }) =>
      figureRow(named(name), [
        formatCount(calls),
        formatCount(before),
        formatCount(after),
        formatShare(before - after, before),
      ]),
    );
  const summary = html`<summary>The tools as a table</summary>`;
  const table = tableMarkup({ attribute: 'id="tools"', caption: 'Tokens by tool', head, rows });
  return html`<details>${summary}${table}</details>`;
}
