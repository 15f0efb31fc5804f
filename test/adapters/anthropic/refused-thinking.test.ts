// Thinking that is bound to messages as they were sent without ctxfold, through the real SDK: the provider refuses it once, and the
// caller does not see that.

import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it } from 'vitest';
import { compactionMiddleware } from '../../../src/adapters/anthropic/compaction-middleware.js';
import { createCompactor } from '../../../src/main/compactor.js';
import { partsOfMessages, ReasoningSeals } from '../../support/thinking-provider.js';

const REFUSAL =
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set ' +
  '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const CALLS = 40;

interface Played {
  readonly messages: readonly MessageParam[];
  /** The calls of which the provider has refused a request. */
  readonly refused: readonly number[];
  /** The calls that were sent less than they were given. */
  readonly edited: readonly number[];
  readonly warnings: readonly string[];
}

/** Plays calls of which each reads nearly what another one has read. */
async function play(begins: number, refusal: string = REFUSAL): Promise<Played> {
  const seals = new ReasoningSeals();
  const messages: MessageParam[] = [{ role: 'user', content: 'make it work' }];
  const [refused, edited, warnings]: [number[], number[], string[]] = [[], [], []];
  let call = 0;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const sent = (JSON.parse(init?.body as string) as { messages: MessageParam[] }).messages;
    const parts = partsOfMessages(sent);
    if (seals.broken(parts).length > 0) {
      refused.push(call);
      const error = { type: 'invalid_request_error', message: refusal };
      return Response.json({ type: 'error', error }, { status: 400 });
    }
    if (JSON.stringify(sent).length < JSON.stringify(messages).length) edited.push(call);
    const thinking = { type: 'thinking', thinking: `hm ${call}`, signature: seals.seal(parts) };
    const use = { type: 'tool_use', id: `t${call}`, name: 'read_file', input: { path: 'a.ts' } };
    return Response.json({
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude-opus-5-5' },
      ...{ content: [thinking, use], stop_reason: 'tool_use' },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  };
  const plain = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch });
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const silent = (): void => {};
  const logger = { error: silent, info: silent, debug: silent };
  const warn = (text: string): void => void warnings.push(text);
  const middleware = [compactionMiddleware(compactor, { logger: { ...logger, warn } })];
  const folding = plain.withOptions({ middleware });
  for (; call < CALLS; call += 1) {
    const client = call < begins ? plain : folding;
    const { content } = await client.messages.create({
      ...{ model: 'claude-opus-5-5', max_tokens: 100, thinking: { type: 'adaptive' } },
      messages,
    });
    const lines = Array.from(
      { length: 60 },
      (_, at) => `line ${at} of ${at === call ? call : 'it'}`,
    );
    const result = {
      type: 'tool_result',
      tool_use_id: `t${call}`,
      content: lines.join('\n'),
    } as const;
    messages.push({ role: 'assistant', content }, { role: 'user', content: [result] });
    if (call % 8 === 7) {
      messages.push({ role: 'assistant', content: 'done' }, { role: 'user', content: 'go on' });
    }
  }
  return { messages, refused, edited, warnings };
}

describe('a conversation that is compacted from some call on', () => {
  it.each([5, 12, 23])(
    'is refused once at most, which its caller does not see: call %i',
    async (begins) => {
      const { messages, refused, edited, warnings } = await play(begins);
      expect(refused.length).toBeLessThanOrEqual(1);
      expect(edited.length).toBeGreaterThan(10);
      expect(warnings.filter((text) => text.includes('refused thinking'))).toHaveLength(
        refused.length,
      );
      expect(JSON.stringify(messages).match(/"type":"thinking"/g)).toHaveLength(CALLS);
    },
  );

  it('is refused at all', async () => {
    const played = await Promise.all([5, 12, 23].map((begins) => play(begins)));
    expect(played.flatMap(({ refused }) => refused).length).toBeGreaterThan(0);
  });

  it('gets any other refusal as it is', async () => {
    await expect(play(12, 'Invalid `signature` in `thinking` block')).rejects.toThrow('400');
  });

  it('has nothing refused where it was compacted from the start', async () => {
    const { refused, edited } = await play(0);
    expect(refused).toEqual([]);
    expect(edited.length).toBeGreaterThan(10);
  });
});
