// What compressions are told of the session.

import { expect, it } from 'vitest';
import { openCompactor } from '../../support/open-compactor.js';
import { historyOf } from '../../support/notation.js';

const LONG = 'lorem ipsum '.repeat(60);

it.each([
  ['a short result itself for agents', {}, 'few words'],
  [
    'its line in the documented system',
    { preset: 'specification' },
    '[run_shell_command: look — success, 1 line]',
  ],
] as const)('high-density leaves %s', async (_, options, left) => {
  const long = Array.from({ length: 20 }, (__, at) =>
    historyOf(`h a:"${LONG}",s${at}(step) t:s${at}(${LONG})`),
  ).flat();
  const short = historyOf('h a:s99(look) t:s99(few words)');
  const session = await openCompactor({
    contextLimit: 12_000,
    settings: { 'compression.threshold': 0.3, 'compression.ahead': 1 },
    ...options,
  }).createSession({ history: [...long.slice(0, 45), ...short, ...long.slice(45)] });
  const { compressed } = await session.ensureCompressionBeforeSend('p');
  expect(compressed?.outcome).toBe('applied');
  const blocks = session.history.getAll().flatMap((entry) => entry.blocks);
  expect(blocks).toContainEqual(expect.objectContaining({ callId: 's99', result: left }));
});
