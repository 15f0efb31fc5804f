// The bar for searching and sorting a list. Invisible until the script runs; its space is reserved, so that the layout does not shift.

import { html } from './html.js';
import type { Markup } from './html.js';

/** Returns the bar of a list. A sort key is an attribute of the items (`data-<key>`), or `name` for their text. */
export function filterBar(
  list: string,
  orders: readonly (readonly [key: string, label: string])[],
): Markup {
  return html`<div class="filter">
    <input
      type="search"
      data-search
      aria-label="Show only ${list} with these words"
      placeholder="filter ${list}"
    />
    <select data-sort aria-label="Sort ${list}">
      ${orders.map(([key, label]) => html`<option value="${key}">${label}</option>`)}
    </select>
    <output data-found aria-live="polite"></output>
  </div>`;
}
