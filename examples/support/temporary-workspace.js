// A directory with a few small source files for an agent to work in: a shop that computes prices.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const FILES = {
  'README.md': `# Shop

Computes what a cart costs. \`src/cart.js\` holds the items, \`src/price.js\` the rules, \`src/report.js\`
prints a receipt.
`,
  'package.json': `{
  "name": "shop",
  "private": true,
  "type": "module"
}
`,
  'src/cart.js': `import { priceOf } from './price.js';

/** The items that somebody is about to buy. */
export class Cart {
  #items = [];

  add(name, unitPrice, quantity = 1) {
    if (quantity < 1) throw new RangeError('Expected a quantity of at least 1.');
    this.#items.push({ name, unitPrice, quantity });
    return this;
  }

  get items() {
    return [...this.#items];
  }

  total() {
    return this.#items.reduce((sum, item) => sum + priceOf(item), 0);
  }
}
`,
  'src/price.js': `const BULK_QUANTITY = 10;
const BULK_DISCOUNT = 0.1;

/** The price of one line, in cents, with the discount for many. */
export function priceOf({ unitPrice, quantity }) {
  const full = unitPrice * quantity;
  return quantity > BULK_QUANTITY ? Math.round(full * (1 - BULK_DISCOUNT)) : full;
}
`,
  'src/report.js': `import { priceOf } from './price.js';

/** A receipt, one line per item. */
export function receiptOf(cart) {
  const lines = cart.items.map((item) => \`\${item.quantity} x \${item.name}: \${priceOf(item)}\`);
  return [...lines, \`total: \${cart.total()}\`].join('\\n');
}
`,
  'test/price.test.js': `import assert from 'node:assert/strict';
import { priceOf } from '../src/price.js';

assert.equal(priceOf({ unitPrice: 100, quantity: 9 }), 900);
assert.equal(priceOf({ unitPrice: 100, quantity: 10 }), 900);
`,
};

/** See `temporary-workspace.d.ts`. */
export async function makeTemporaryWorkspace(files = FILES) {
  const root = await mkdtemp(join(tmpdir(), 'ctxfold-workspace-'));
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}
