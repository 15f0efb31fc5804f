// Recorded sessions through the adapters, against providers that bind reasoning to what stands before it: nothing is refused
// and nothing dropped, and all the same edits land.

import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';

import { compactionMiddleware } from '../../src/anthropic.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { Session } from '../../src/main/session.js';
import { inputCompactor } from '../../src/openai.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import type { IContent } from '../../src/shared/content.js';
import { readTranscript } from '../../src/transcripts.js';
import { sample } from '../support/scale.js';
import {
  cutsOpenTurn,
  partsOfItems,
  partsOfMessages,
  ReasoningSeals,
} from '../support/thinking-provider.js';

const FIXTURES = 'test/fixtures/transcripts';
const FILES = [
  'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
  'codex/jdx-mise__71-b56c467073-0.jsonl',
] as const;

/** Results leave early, so that short sessions have edits as well. */
const EAGER = { ...DEFAULT_WORKING_SET, freeTokens: 0, readCalls: 3, outputCalls: 1 };

let compactor: Compactor;

afterEach(() => compactor.close());

/** The entries of a recording; every tenth result is followed by a word of the user, so that turns end. */
async function entriesOf(file: string): Promise<readonly IContent[]> {
  const { entries } = await readTranscript(`${FIXTURES}/${file}`);
  return entries.flatMap((entry, at) =>
    entry.speaker === 'tool' && at % 10 === 9
      ? [entry, { speaker: 'human', blocks: [{ type: 'text', text: `Go on, ${at}.` }] } as const]
      : [entry],
  );
}

type Json = Readonly<Record<string, unknown>>;

function claudeBlocks({ blocks }: IContent): Json[] {
  return blocks.flatMap((block): Json[] => {
    if (block.type === 'text' && block.text.trim() !== '')
      return [{ type: 'text', text: block.text }];
    if (block.type === 'tool_call') {
      const { id, name, parameters } = block;
      return [{ type: 'tool_use', id, name, input: parameters }];
    }
    if (block.type !== 'tool_response') return [];
    const content = typeof block.result === 'string' ? block.result : JSON.stringify(block.result);
    return [{ type: 'tool_result', tool_use_id: block.callId, content }];
  });
}

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
): Promise<Omit<Played, 'edits'>> {
  compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const seals = new ReasoningSeals();
  let [requests, broken] = [0, 0];
  const compact = inputCompactor(compactor, {
    density: { workingSet: EAGER },
  });
  const items: Json[] = [{ type: 'message', role: 'user', content: 'Go.' }];
  for (const [at, entry] of entries.entries()) {
    if (entry.speaker === 'ai') {
      const parts = partsOfItems(await compact(items as never, { modelName: model }));
      requests += 1;
      broken += seals.broken(parts).length;
      const encrypted = seals.seal(parts);
      items.push({ type: 'reasoning', id: `rs_${at}`, summary: [], encrypted_content: encrypted });
    }
    const role = entry.speaker === 'ai' ? 'assistant' : 'user';
    for (const block of entry.blocks) {
      if (block.type === 'text') items.push({ type: 'message', role, content: block.text });
      if (block.type === 'tool_call') {
        const { id, name, parameters } = block;
        const call = { call_id: id, name, arguments: JSON.stringify(parameters) };
        items.push({ type: 'function_call', ...call });
      }
      if (block.type === 'tool_response') {
        const output =
          typeof block.result === 'string' ? block.result : JSON.stringify(block.result);
        items.push({ type: 'function_call_output', call_id: block.callId, output });
      }
    }
  }
  return { requests, broken };
}

describe('a provider that binds reasoning to what stands before it', { timeout: 120_000 }, () => {
  it.each(sample(FILES, 1))(
    'refuses nothing of %s as Claude does, and edits land',
    async (file) => {
      const entries = await entriesOf(file);
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
    const { requests, broken } = await playGpt(await entriesOf(file), 'gpt-6.2-sol');
    expect(requests).toBeGreaterThan(5);
    expect(broken).toBe(0);
  });

  it('would refuse or drop what lands by other policies', async () => {
    const entries = await entriesOf(FILES[0]);
    const { broken } = await playClaude(entries, 'every-turn', 'keep');
    expect(broken).toBeGreaterThan(0);
    await compactor.close();
    expect((await playGpt(entries, 'gpt-5.5')).broken).toBeGreaterThan(0);
  });
});
