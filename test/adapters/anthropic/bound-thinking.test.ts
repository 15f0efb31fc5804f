// Thinking in conversations that Anthropic or ctxfold compacts, through the real SDK, with a provider that binds thinking to its
// prefix: a compaction block counts as exactly the messages that it was made from.

import Anthropic from '@anthropic-ai/sdk';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { compactionMiddleware } from '../../../src/adapters/anthropic/compaction-middleware.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import { length, pairs } from '../../support/scale.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { cutsOpenTurn, partsOfMessages, ReasoningSeals } from '../../support/thinking-provider.js';

type Message = Anthropic.MessageParam;
type Parts = ReturnType<typeof partsOfMessages>;

const LONG = 'lorem ipsum dolor '.repeat(60);
const TURNS = length(20, 12);

interface Played {
  /** Requests with thinking that is bound to another prefix. */
  broken: number;
  /** Requests in which the turn of an open call has lost its thinking. */
  cut: number;
  blocks: number;
  /** Compressions made ahead of time. */
  ahead: number;
  /** Requests with thinking behind a compaction block. */
  kept: number;
}

/** Plays turns of three calls each, whose results soon become stale. */
async function play(
  settings: EphemeralSettings,
  options: AdapterOptions = {},
  summarizer?: CompactorOptions['summarizer'],
): Promise<Played> {
  await using compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 6_000 },
    settings: { 'compression.strategy': 'provider', ...settings },
    summarizer,
  });
  const seals = new ReasoningSeals();
  const standsFor = new Map<string, Parts>();
  const partsOf = (messages: readonly Message[]): Parts => {
    const [first, ...rest] = messages;
    const block = JSON.stringify(Array.isArray(first?.content) ? first.content[0] : undefined);
    const stood = standsFor.get(block);
    return stood === undefined ? partsOfMessages(messages) : [...stood, ...partsOfMessages(rest)];
  };
  const played = { broken: 0, cut: 0, blocks: 0, ahead: 0, kept: 0 };
  let answers = 0;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { messages, compaction } = JSON.parse(init?.body as string) as {
      readonly messages: readonly Message[];
      readonly compaction?: object;
    };
    const parts = partsOf(messages);
    if (seals.broken(parts).length > 0) played.broken += 1;
    const usage = { input_tokens: 10, output_tokens: 5 };
    const reply = { id: 'm', type: 'message', role: 'assistant', model: 'claude-opus-5-5', usage };
    if (compaction !== undefined) {
      // The conversation continues meanwhile.
      for (let at = 0, then = answers; at < 200 && answers < then + 2; at += 1) await nextTurn();
      played.blocks += 1;
      const content = `summary ${played.blocks}`;
      const block = { type: 'compaction', content, encrypted_content: 'b64', signature: 's' };
      standsFor.set(JSON.stringify(block), parts);
      return Response.json({ ...reply, content: [block], stop_reason: 'compaction' });
    }
    if (cutsOpenTurn(messages)) played.cut += 1;
    const text = JSON.stringify(messages);
    if (text.includes('"compaction"') && text.includes('"thinking"')) played.kept += 1;
    for (let at = 0; at < 5; at += 1) await nextTurn();
    answers += 1;
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: seals.seal(parts) };
    const name = answers % 3 === 0 ? 'write_file' : 'read_file';
    const input = { file_path: `/p${answers % 5}.ts`, content: 'x' };
    const last =
      answers % 4 === 0
        ? { type: 'text', text: `done ${answers}` }
        : { type: 'tool_use', id: `toolu_${answers}`, name, input };
    return Response.json({ ...reply, content: [thinking, last], stop_reason: 'end_turn' });
  };
  const client = new Anthropic({
    ...{ apiKey: 'none', maxRetries: 0, fetch },
    middleware: [
      compactionMiddleware(compactor, {
        onError: 'throw',
        ...options,
        onSession: (session) =>
          session.on(
            'compressed',
            ({ isAhead }) => void (played.ahead += Number(isAhead === true)),
          ),
      }),
    ],
  });
  const messages: Message[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    messages.push({ role: 'user', content: `Never skip part ${turn}. ${LONG}` });
    for (let isOpen = true; isOpen;) {
      const { content } = await client.messages.create({
        ...{ model: 'claude-opus-5-5', max_tokens: 100, thinking: { type: 'adaptive' } },
        messages,
      });
      messages.push({ role: 'assistant', content });
      const results = content.flatMap((part) =>
        part.type === 'tool_use'
          ? [
              {
                type: 'tool_result',
                tool_use_id: part.id,
                // Equal results would be replaced by a reference.
                content: LONG.replaceAll('dolor', part.id),
              } as const,
            ]
          : [],
      );
      isOpen = results.length > 0;
      if (isOpen) messages.push({ role: 'user', content: results });
    }
  }
  return played;
}

describe('thinking behind a compaction by Anthropic', () => {
  const SETTINGS = [0.2, 0.5].flatMap((preserved) =>
    [1, 0.4].map((ahead) => [preserved, ahead] as const),
  );
  const OPTIONS = [{}, { cacheTtlMs: 0 }, { edits: 'every-turn' }] as const;
  const CASES = pairs(SETTINGS, OPTIONS).map(
    ([[preserved, ahead], options]) => [preserved, ahead, options] as const,
  );

  it.each(CASES)(
    'stays valid, with %s of the history kept, made from %s of the window on, and %j',
    async (preserved, ahead, options) => {
      const settings = {
        'compression.preserveThreshold': preserved,
        'compression.ahead': ahead,
      };
      const { broken, blocks, kept } = await play(settings, options);
      expect(broken).toBe(0);
      expect(blocks).toBeGreaterThan(1);
      expect(kept).toBeGreaterThan(10);
    },
  );
});

describe('the thinking of a turn whose call is open', () => {
  it.each(['middle-out', 'one-shot'] as const)(
    'stays until the turn is over when a summary by %s is made ahead of time',
    async (strategy) => {
      const summarizer = scriptedSummarizer(async () => {
        for (let at = 0; at < 8; at += 1) await nextTurn();
        return { text: snapshot('on we go'), finishReason: 'stop' };
      });
      const settings = { 'compression.strategy': strategy, 'compression.ahead': 0.4 };
      const { broken, cut, ahead } = await play(settings, {}, summarizer);
      expect({ broken, cut }).toEqual({ broken: 0, cut: 0 });
      expect(ahead).toBeGreaterThan(3);
    },
  );
});
