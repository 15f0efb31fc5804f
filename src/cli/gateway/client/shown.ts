// Formats figures and builds rows for the live page. Inserts text only.

const WHOLE = new Intl.NumberFormat('en-US');
const MONEY = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});

export const whole = (value: number): string => WHOLE.format(Math.round(value));

export const kilobytes = (bytes: number): string =>
  `${WHOLE.format(Math.round(bytes / 102.4) / 10)} KB`;

export const clock = (at: number): string => new Date(at).toLocaleTimeString();

/** Formats a share as a percentage, such as `41 %`. */
export function share(part: number, all: number): string {
  return all === 0 ? '0 %' : `${Math.round((part / all) * 100)} %`;
}

/** Formats a cost, such as `$0.12 instead of $0.30`; empty if the price is unknown. */
export function dollars(
  cost: { readonly with: number; readonly without: number } | undefined,
): string {
  return cost === undefined
    ? ''
    : `${MONEY.format(cost.with)} instead of ${MONEY.format(cost.without)}`;
}

/** Returns a table row. */
export function cells(values: readonly (string | HTMLElement)[]): HTMLTableRowElement {
  const row = document.createElement('tr');
  for (const value of values) row.insertCell().append(value);
  return row;
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
