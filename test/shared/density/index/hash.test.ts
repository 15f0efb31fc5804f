// The seed of hashes.

import { expect, onTestFinished, test, vi } from 'vitest';

test('draws no seed while modules are loaded, when Cloudflare Workers allow no random values', async () => {
  vi.resetModules();
  const draw = vi.spyOn(crypto, 'getRandomValues');
  onTestFinished(() => {
    draw.mockRestore();
  });
  await import('../../../../src/index.js');
  expect(draw).not.toHaveBeenCalled();
  const { hashOf } = await import('../../../../src/shared/density/index/hash.js');
  expect(hashOf('a')).toBe(hashOf('a'));
  expect(draw).toHaveBeenCalledOnce();
});
