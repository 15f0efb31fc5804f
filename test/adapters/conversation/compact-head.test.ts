// A host's own function for compaction by the provider may return anything. Only valid items get into a request.

import { describe, expect, it } from 'vitest';

import { messageCompactor } from '../../../src/adapters/anthropic/message-compactor.js';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import { openCompactor } from '../../support/open-compactor.js';

const LONG = 'lorem ipsum dolor '.repeat(100);
const DATA = { type: 'compaction', content: 'What was.' };

const itemsOf = (...items: readonly unknown[]): unknown => ({ items, keepsReasoning: true });

/** Plays turns until a compression, and returns its event and the messages sent then. */
async function playWith(answer: unknown) {
  const compactor = openCompactor({
    contextLimit: 6_000,
    settings: { 'compression.strategy': 'provider', 'compression.ahead': 1 },
  });
  const events: CompressedEvent[] = [];
  const compact = messageCompactor(compactor, {
    onError: 'throw',
    onSession: (session) => session.on('compressed', (event) => events.push(event)),
  });
  const messages: { role: 'user' | 'assistant'; content: string }[] = [];
  for (;;) {
    messages.push({ role: 'user', content: `${messages.length} ${LONG}` });
    const sent = await compact(messages, {
      compactByProvider: () => Promise.resolve(answer as never),
    });
    if (events.length > 0) return { event: events[0]!, sent };
    messages.push({ role: 'assistant', content: 'done' });
  }
}

describe('compactHead', () => {
  it('accepts items with kind, data and tokens', async () => {
    const item = { kind: 'compaction', data: DATA, tokens: 5 };
    const { event, sent } = await playWith(itemsOf(item));
    expect(event).toMatchObject({ strategy: 'provider', outcome: 'applied' });
    expect(sent[0]).toEqual({ role: 'assistant', content: [DATA] });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'a summary'],
    ['no items', {}],
    ['an empty list', itemsOf()],
    ['items that are none', itemsOf(null)],
    ['an item without data', itemsOf({ kind: 'compaction', tokens: 5 })],
    ['data that is no JSON', itemsOf({ kind: 'compaction', data: { at: 5n }, tokens: 5 })],
    ['an item without a kind', itemsOf({ data: DATA, tokens: 5 })],
    ['an item without tokens', itemsOf({ kind: 'compaction', data: DATA })],
    ['tokens below 0', itemsOf({ kind: 'compaction', data: DATA, tokens: -5_000 })],
  ])('falls back to another strategy if the answer is %s', async (_, answer) => {
    const { event, sent } = await playWith(answer);
    expect(event).toMatchObject({
      strategy: 'high-density',
      outcome: 'applied',
      fallbackFrom: { strategy: 'provider', error: { code: 'PROVIDER_COMPACTION_FAILED' } },
    });
    expect(sent.every(({ content }) => typeof content === 'string')).toBe(true);
  });
});
