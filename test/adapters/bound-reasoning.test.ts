// Recorded sessions through the adapters, against providers that bind reasoning to what stands before it: nothing is refused
// and nothing dropped, and all the same edits land.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';

import { compactionMiddleware } from '../../src/anthropic.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { Session } from '../../src/main/session.js';
import { inputCompactor } from '../../src/openai.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import type { IContent } from '../../src/shared/content.js';
import { sample } from '../support/scale.js';
import { claudeBlocks, recordedEntries, responseItems } from '../support/recorded-talks.js';
import type { Json } from '../support/recorded-talks.js';
import {
  cutsOpenTurn,
  partsOfItems,
  partsOfMessages,
  ReasoningSeals,
} from '../support/thinking-provider.js';

const FILES = [
  'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
  'codex/jdx-mise__71-b56c467073-0.jsonl',
] as const;

/** Results leave early, so that short sessions have edits as well. */
const EAGER = { ...DEFAULT_WORKING_SET, freeTokens: 0, readCalls: 3, outputCalls: 1 };

let compactor: Compactor;

afterEach(() => compactor.close());

/** What came of a session. */
interface Played {
  readonly requests: number;
  /** Requests that were refused, or reasoning that was dropped. */
  readonly broken: number;
  /** Edits of what had been sent. */
  readonly edits: number;
}

async function playClaude(
  entries: readonly IContent[],
  edits: 'auto' | 'append-only' | 'every-turn',
  reasoning?: 'keep',
): Promise<Played> {
  compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const seals = new ReasoningSeals();
  let [requests, broken, landed] = [0, 0, 0];
  let seal = '';
  const fetch: typeof globalThis.fetch = (_, init) => {
    const { messages } = JSON.parse(String(init?.body)) as { messages: readonly unknown[] };
    const parts = partsOfMessages(messages);
    requests += 1;
    if (seals.broken(parts).length > 0 || cutsOpenTurn(messages)) broken += 1;
    seal = seals.seal(parts);
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
    return Promise.resolve(Response.json(message));
  };
  const onSession = (session: Session): void => {
    // What was shrunk before it was sent is bound to nothing.
    session.on('pruned', ({ reason }) => void (landed += reason === 'unsent' ? 0 : 1));
  };
  const options = {
    edits,
    density: { workingSet: EAGER },
    onSession,
    ...(reasoning && { reasoning }),
  };
  const client = new Anthropic({
    ...{ apiKey: 'none', maxRetries: 0, fetch },
    middleware: [compactionMiddleware(compactor, options)],
  });
  const messages: Json[] = [];
  for (const entry of entries) {
    const content = claudeBlocks(entry);
    if (content.length === 0) continue;
    if (entry.speaker !== 'ai') {
      messages.push({ role: 'user', content });
      continue;
    }
    if (messages.length === 0) messages.push({ role: 'user', content: 'Go.' });
    await client.messages.create({
      ...{ model: 'claude-opus-5-5', max_tokens: 100 },
      messages: messages as never,
    });
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: seal };
    messages.push({ role: 'assistant', content: [thinking, ...content] });
  }
  return { requests, broken, edits: landed };
}

async function playGpt(
  entries: readonly IContent[],
  model: string,
  edits: 'auto' | 'append-only' = 'auto',
): Promise<Omit<Played, 'edits'>> {
  compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const seals = new ReasoningSeals();
  let [requests, broken] = [0, 0];
  let seal = '';
  const fetch: typeof globalThis.fetch = (_, init) => {
    const { input } = JSON.parse(String(init?.body)) as { input: readonly unknown[] };
    const parts = partsOfItems(input);
    requests += 1;
    broken += seals.broken(parts).length;
    seal = seals.seal(parts);
    return Promise.resolve(Response.json({ id: 'r', object: 'response', output: [] }));
  };
  const client = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch });
  const compact = inputCompactor(compactor, { edits, density: { workingSet: EAGER } });
  const items: Json[] = [{ type: 'message', role: 'user', content: 'Go.' }];
  for (const [at, entry] of entries.entries()) {
    if (entry.speaker === 'ai') {
      const input = await compact(items as never, { modelName: model });
      await client.responses.create({ model, input });
      items.push({ type: 'reasoning', id: `rs_${at}`, summary: [], encrypted_content: seal });
    }
    items.push(...responseItems([entry]));
  }
  return { requests, broken };
}

describe('a provider that binds reasoning to what stands before it', { timeout: 120_000 }, () => {
  it.each(sample(FILES, 1))(
    'refuses nothing of %s as Claude does, and edits land',
    async (file) => {
      const entries = await recordedEntries(file);
      for (const edits of ['auto', 'append-only'] as const) {
        const { requests, broken, edits: landed } = await playClaude(entries, edits);
        expect(requests).toBeGreaterThan(5);
        expect(broken).toBe(0);
        expect(landed).toBeGreaterThan(0);
        await compactor.close();
      }
    },
  );

  it.each(sample(FILES, 1))('drops nothing of %s as GPT-6.2 does', async (file) => {
    const entries = await recordedEntries(file, 160);
    for (const edits of ['auto', 'append-only'] as const) {
      const { requests, broken } = await playGpt(entries, 'gpt-6.2-sol', edits);
      expect(requests).toBeGreaterThan(5);
      expect(broken).toBe(0);
      await compactor.close();
    }
  });

  it('would refuse or drop what lands by other policies', async () => {
    const entries = await recordedEntries(FILES[0]);
    const { broken } = await playClaude(entries, 'every-turn', 'keep');
    expect(broken).toBeGreaterThan(0);
    await compactor.close();
    expect((await playGpt(entries, 'gpt-5.5')).broken).toBeGreaterThan(0);
  });
});
