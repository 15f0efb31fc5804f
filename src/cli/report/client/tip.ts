// The tooltip with the numbers of the turn that is selected by pointer or arrow keys.

import type { ChartData } from '../chart-data.js';
import { formatCount } from '../../terminal/text-layout.js';

const DISTANCE = 14;

/** Shows the numbers of the selected turn beside its place in the chart. */
export function startTip(chart: HTMLElement, data: ChartData): void {
  const plot = chart.querySelector('.plot');
  if (plot === null) return;
  const turns = data.turns.length;
  const [line, box] = [element('i'), element('div')];
  line.className = 'cursor';
  box.className = 'tip';
  chart.append(line, box);
  let selected = -1;
  const select = (turn: number): void => {
    selected = turn;
    line.hidden = box.hidden = turn < 0;
    if (turn < 0) return;
    box.replaceChildren(...contentOf(data, turn));
    const { left, width } = plot.getBoundingClientRect();
    const x = left - chart.getBoundingClientRect().left + ((turn + 0.5) / turns) * width;
    const right = x + DISTANCE;
    const fits = right + box.offsetWidth <= chart.clientWidth;
    line.style.left = `${x}px`;
    box.style.left = `${fits ? right : Math.max(0, x - DISTANCE - box.offsetWidth)}px`;
  };
  select(-1);
  chart.addEventListener('mousemove', ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    const turn = Math.floor(((clientX - left) / width) * turns);
    select(turn < turns ? turn : -1);
  });
  chart.addEventListener('mouseleave', () => {
    select(-1);
  });
  chart.addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0) select(Math.min(turns - 1, Math.max(0, selected + step)));
  });
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
    list.append(element('dt', label), element('dd', formatCount(tokens)));
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
