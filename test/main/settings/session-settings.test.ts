// Settings on their way from a compactor's options to its sessions.

import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';

const INLINE = { offload: 'inline', tokenizer: 'estimate', contextLimit: 1_000 } as const;

describe('createCompactor', () => {
  it('gives each session its own settings, over the profile', async () => {
    await using compactor = createCompactor({
      ...INLINE,
      settings: { 'compression.threshold': 0.5 },
      profile: { 'compression.threshold': 0.6, 'compression.profile': 'cheap' },
    });
    const [one, other] = [await compactor.createSession(), await compactor.createSession()];
    one.settings.set('compression.threshold', undefined);
    expect(one.settings.all()).toEqual({
      'compression.threshold': 0.6,
      'compression.profile': 'cheap',
    });
    expect(other.settings.get('compression.threshold')).toBe(0.5);
  });

  it('creates sessions that follow a changed threshold at once', async () => {
    await using compactor = createCompactor(INLINE);
    const session = await compactor.createSession();
    expect(session.shouldCompress(700)).toBe(false);
    session.settings.set('compression-threshold', 0.7);
    expect(session.shouldCompress(700)).toBe(true);
  });

  it.each(['settings', 'profile'] as const)(
    'names everything that is wrong in its %s',
    (option) => {
      const options: CompactorOptions = {
        ...INLINE,
        [option]: { 'compression.threshold': 2, a: 1 },
      };
      expect(() => createCompactor(options)).toThrow(RangeError);
      expect(() => createCompactor(options)).toThrow(
        `got 2.\n  → at ${option}\n✖ Unknown setting 'a'. Known settings: `,
      );
    },
  );
});
