// The script of the page: tooltip of the chart, filter bars and copy buttons. All content is readable without it.

import type { ChartData } from '../chart-data.js';
import { startCopying } from './copy.js';
import { startFilter } from './filter.js';
import { startTip } from './tip.js';

const chart = document.getElementById('chart');
const data = JSON.parse(document.getElementById('data')?.textContent ?? 'null') as ChartData | null;
if (chart !== null && data !== null) startTip(chart, data);
for (const list of document.querySelectorAll<HTMLElement>('[data-filter]')) startFilter(list);
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]'))
  startCopying(button);
