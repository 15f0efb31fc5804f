// Compactors of tests.

import { onTestFinished } from 'vitest';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';

/** Makes a compactor that ends with the test. It runs on this thread and estimates tokens, unless `options` say otherwise. */
export function openCompactor(options: CompactorOptions = {}): Compactor {
  const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', ...options });
  onTestFinished(() => compactor.close());
  return compactor;
}
