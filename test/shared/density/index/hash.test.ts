// When the seed of hashes is drawn.

import { expect, test, vi } from 'vitest';

test('draws no seed while modules are loaded, when Cloudflare Workers allow no random values', async () => {
  vi.resetModules();
  const draw = vi.spyOn(crypto, 'getRandomValues');
  await vi.importActual('../../../../src/index.js');
  expect(draw).not.toHaveBeenCalled();
  draw.mockRestore();
});
