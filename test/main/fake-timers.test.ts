// A host's tests may fake all timers, as Vitest does by default: a compactor works all the same.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCompactor } from '../../src/main/compactor.js';
import { humanText } from '../../src/shared/content.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('createCompactor', () => {
  test.each(['inline', 'auto'] as const)(
    'counts and prunes with fake timers: %s',
    async (offload) => {
      await using compactor = createCompactor({ offload });
      const history = Array.from({ length: 600 }, (_, at) => humanText(`Message ${at}.`));
      const session = await compactor.createSession({ history });
      await session.ensureCompressionBeforeSend('prompt', 0, 'test');
      expect(session.history.getTotalTokens()).toBeGreaterThan(1_800);
      expect(session.history.isCounted).toBe(true);
    },
  );
});
