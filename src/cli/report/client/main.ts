// The script of the page: chart, filter bars and copy buttons. All content is readable without it.

import type { ChartData } from '../chart-data.js';
import { startChart } from './chart.js';
import { startCopying } from './copy.js';
import { startFilter } from './filter.js';

const place = document.getElementById('chart');
const data = JSON.parse(document.getElementById('data')?.textContent ?? 'null') as ChartData | null;
if (place !== null && data !== null) startChart(place, data);
for (const list of document.querySelectorAll<HTMLElement>('[data-filter]')) startFilter(list);
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]'))
  startCopying(button);
