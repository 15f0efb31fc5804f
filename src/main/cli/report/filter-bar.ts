// The bar above a list by which it is searched and sorted. The script works it; without one it is not to be seen, and
// keeps its place.

import { html } from './html.js';
import type { Markup } from './html.js';

/** Returns the bar of a list; orders are attributes of its items (`data-<key>`), or `name` for what they say. */
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
    <select data-sort aria-label="Order of the ${list}">
      ${orders.map(([key, label]) => html`<option value="${key}">${label}</option>`)}
    </select>
    <output data-found aria-live="polite"></output>
  </div>`;
}
