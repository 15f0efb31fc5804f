// The script of the page: draws the chart, works the bars that filter, and copies. Everything is there to be read without it.

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
