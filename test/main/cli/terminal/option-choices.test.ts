// That the choices of options are what the public API knows, in its order.

import { describe, expect, test } from 'vitest';
import { COMPRESSION_STRATEGIES } from '../../../../src/index.js';
import { STRATEGY_CHOICES } from '../../../../src/main/cli/terminal/option-choices.js';

describe('STRATEGY_CHOICES', () => {
  test('are the strategies that there are', () => {
    expect(STRATEGY_CHOICES).toEqual(COMPRESSION_STRATEGIES);
  });
});
