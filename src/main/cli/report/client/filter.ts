// Filters and sorts a list of the page by what its items say. Items that are not meant are hidden; groups of items open while
// something is searched for, and go when nothing is left in them.

const WHOLE = new Intl.NumberFormat('en-US');

/** Works the bar of one list. */
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
      if (count) count.textContent = isSearching ? WHOLE.format(shown) : (totals[at] ?? '');
    });
    const shown = items.filter(({ hidden }) => !hidden).length;
    found.textContent = isSearching
      ? `${WHOLE.format(shown)} of ${WHOLE.format(items.length)}`
      : '';
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

/** What the heading of an item's group says: whoever searches for it means all that is in it. */
function groupText(item: HTMLElement): string {
  const summary = item.closest('[data-group]')?.querySelector('summary');
  return summary?.textContent.toLowerCase() ?? '';
}

function nameOf(item: HTMLElement): string {
  return item.querySelector('.what')?.textContent ?? '';
}
