// The tooltip with the numbers of the selected turn.

import type uPlot from 'uplot';
import type { ChartData } from '../chart-data.js';

const WHOLE = new Intl.NumberFormat('en-US');
const DISTANCE = 14;

/** Creates the tooltip of a chart. */
export function createTip(data: ChartData): {
  readonly attach: (chart: uPlot) => void;
  readonly follow: (chart: uPlot) => void;
} {
  const box = document.createElement('div');
  box.className = 'tip';
  return {
    attach: (chart) => {
      chart.over.append(box);
    },
    follow: ({ cursor: { idx, left = -1 }, over }) => {
      const isShown = typeof idx === 'number' && left >= 0;
      box.style.visibility = isShown ? 'visible' : 'hidden';
      if (!isShown) return;
      box.replaceChildren(...contentOf(data, idx));
      const { offsetWidth } = box;
      const right = left + DISTANCE;
      const x = right + offsetWidth > over.clientWidth ? left - DISTANCE - offsetWidth : right;
      box.style.left = `${Math.max(0, x)}px`;
    },
  };
}

function contentOf({ turns, layers, without, marks }: ChartData, at: number): Node[] {
  const turn = turns[at] ?? '';
  const sum = layers.reduce((total, { tokens }) => total + (tokens[at] ?? 0), 0);
  const list = element('dl');
  const figures: [string, number][] = [
    ['without ctxfold', without[at] ?? 0],
    ['with ctxfold', sum],
    ...layers
      .map(({ label, tokens }): [string, number] => [label, tokens[at] ?? 0])
      .filter(([, tokens]) => tokens > 0)
      .reverse(),
  ];
  for (const [label, tokens] of figures) {
    list.append(element('dt', label), element('dd', WHOLE.format(tokens)));
  }
  return [
    element('strong', turn === 'end' ? 'after the last call' : `model call ${turn}`),
    list,
    ...marks.filter((mark) => mark.at === at).map(({ text }) => element('p', text)),
  ];
}

function element(name: string, text: string = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
