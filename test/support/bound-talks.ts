// Plays recorded sessions through adapters and the real SDKs, against providers that bind reasoning to its prefix, and
// counts what these would refuse or drop.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { compactionMiddleware } from '../../src/anthropic.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Session } from '../../src/main/session.js';
import { inputCompactor } from '../../src/openai.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import type { IContent } from '../../src/shared/content.js';
import { claudeBlocks, responseItems } from './recorded-talks.js';
import type { Json } from './recorded-talks.js';
import {
  cutsOpenTurn,
  partsOfItems,
  partsOfMessages,
  ReasoningSeals,
} from './thinking-provider.js';

/** Removes results early, so that even short sessions have edits. */
const EAGER = { ...DEFAULT_WORKING_SET, freeTokens: 0, readCalls: 3, outputCalls: 1 };

/** The result of a session. */
export interface Played {
  readonly requests: number;
  /** Requests refused, or reasoning dropped. */
  readonly broken: number;
  /** Edits of content that had been sent. */
  readonly edits: number;
}

/** Plays a session through Anthropic's SDK, with a model that refuses reasoning whose prefix has changed. */
export async function playClaude(
  entries: readonly IContent[],
  edits: 'auto' | 'append-only' | 'every-turn',
  reasoning?: 'keep',
): Promise<Played> {
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const seals = new ReasoningSeals();
  let [requests, broken, landed] = [0, 0, 0];
  let seal = '';
  const fetch: typeof globalThis.fetch = (_, init) => {
    const { messages } = JSON.parse(init?.body as string) as { messages: readonly unknown[] };
    const parts = partsOfMessages(messages);
    requests += 1;
    if (seals.broken(parts).length > 0 || cutsOpenTurn(messages)) broken += 1;
    seal = seals.seal(parts);
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
    return Promise.resolve(Response.json(message));
  };
  const onSession = (session: Session): void => {
    // Results shrunk before they were sent are in no prefix yet.
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
      ...{ model: 'claude-opus-5-5', max_tokens: 100, cache_control: { type: 'ephemeral' } },
      messages: messages as never,
    });
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: seal };
    messages.push({ role: 'assistant', content: [thinking, ...content] });
  }
  return { requests, broken, edits: landed };
}

/** Plays a session through OpenAI's SDK, with a model that drops such reasoning. */
export async function playGpt(
  entries: readonly IContent[],
  model: string,
  edits: 'auto' | 'append-only' = 'auto',
): Promise<Omit<Played, 'edits'>> {
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const seals = new ReasoningSeals();
  let [requests, broken] = [0, 0];
  let seal = '';
  const fetch: typeof globalThis.fetch = (_, init) => {
    const { input } = JSON.parse(init?.body as string) as { input: readonly unknown[] };
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
