// Filters and sorts a list by the text of its items. Items that do not match are hidden. Groups open during a search and are hidden
// if no item in them matches.

import { formatCount } from '../../terminal/text-layout.js';

/** Makes the bar of a list work. */
export function startFilter(list: HTMLElement): void {
  const search = list.querySelector<HTMLInputElement>('[data-search]');
  const order = list.querySelector<HTMLSelectElement>('[data-sort]');
  const found = list.querySelector<HTMLOutputElement>('[data-found]');
  const items = Array.from(list.querySelectorAll<HTMLElement>('[data-item]'));
  const groups = Array.from(list.querySelectorAll<HTMLDetailsElement>('[data-group]'));
  if (search === null || order === null || found === null) return;
  const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
  const counts = groups.map((group) => group.querySelector<HTMLElement>('[data-count]'));
  const totals = counts.map((count) => count?.textContent ?? '');
  list.classList.add('alive');

  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isSearching = words.length > 0;
    for (const item of items) {
      const title = groupText(item);
      item.hidden = !words.every(
        (word) => texts.get(item)?.includes(word) === true || title.includes(word),
      );
    }
    groups.forEach((group, at) => {
      const shown = group.querySelectorAll('[data-item]:not([hidden])').length;
      group.hidden = isSearching && shown === 0;
      group.open = isSearching;
      const count = counts[at];
      if (count) count.textContent = isSearching ? formatCount(shown) : (totals[at] ?? '');
    });
    const shown = items.filter(({ hidden }) => !hidden).length;
    found.textContent = isSearching ? `${formatCount(shown)} of ${formatCount(items.length)}` : '';
  });

  order.addEventListener('change', () => {
    const key = order.value;
    const sign = key === 'turn' ? 1 : -1;
    const valueOf = (item: HTMLElement): number => Number(item.dataset[key]);
    const sorted = items.toSorted((a, b) =>
      key === 'name' ? nameOf(a).localeCompare(nameOf(b)) : sign * (valueOf(a) - valueOf(b)),
    );
    for (const item of sorted) item.parentElement?.append(item);
  });
}

/** Returns the heading of an item's group; a search that matches it matches all items of the group. */
function groupText(item: HTMLElement): string {
  const summary = item.closest('[data-group]')?.querySelector('summary');
  return summary?.textContent.toLowerCase() ?? '';
}

function nameOf(item: HTMLElement): string {
  return item.querySelector('.what')?.textContent ?? '';
}
