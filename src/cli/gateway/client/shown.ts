// Formats figures and builds rows for the live page. Inserts text only.

import { formatCount, formatDollars, formatShare } from '../../terminal/text-layout.js';

export const kilobytes = (bytes: number): string => `${formatCount(bytes / 1_000)} kB`;

export const clock = (at: number): string => new Date(at).toLocaleTimeString();

/** Formats how much less the second of two amounts is, such as `41.0 %`. */
export function saving(without: number, left: number): string {
  return formatShare(without - left, without);
}

/** Formats a cost, such as `$0.12 instead of $0.30`; empty if the price is unknown. */
export function dollars(
  cost: { readonly with: number; readonly without: number } | undefined,
): string {
  return cost === undefined
    ? ''
    : `${formatDollars(cost.with)} instead of ${formatDollars(cost.without)}`;
}

/** Returns a table row. */
export function cells(values: readonly (string | HTMLElement)[]): HTMLTableRowElement {
  const row = document.createElement('tr');
  setCells(row, values);
  return row;
}

/** Sets the cells of a row. What stays is not replaced, so that an open list stays open. */
export function setCells(
  row: HTMLTableRowElement,
  values: readonly (string | HTMLElement)[],
): void {
  for (const [at, value] of values.entries()) {
    const cell = row.cells[at] ?? row.insertCell();
    if (value !== cell.firstChild && value !== cell.textContent) cell.replaceChildren(value);
  }
}

/** Replaces the content of a description list. */
export function fill(list: HTMLElement, terms: readonly (readonly [string, string])[]): void {
  list.replaceChildren(
    ...terms.flatMap(([name, value]) => {
      const [term, text] = [document.createElement('dt'), document.createElement('dd')];
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }),
  );
}
