// Turns of Claude whose server tools span messages, through the real SDK: programs that call the application's tools, and pauses.
// Each turn is sent unchanged, except for thinking that an edit invalidated, or is removed as a whole.

import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';

import { compactionMiddleware } from '../../../src/adapters/anthropic/compaction-middleware.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import { length } from '../../support/scale.js';
import { partsOfMessages, ReasoningSeals } from '../../support/thinking-provider.js';

type Message = Anthropic.Beta.BetaMessageParam;
type Part = Readonly<Record<string, unknown>> & { readonly type: string };

const LONG = 'lorem ipsum dolor '.repeat(40);
const THOUGHT = { type: 'thinking', thinking: LONG };
const TURNS = length(14, 10);
const LIMIT = 6_000;

const call = (id: string, program?: string): Part => {
  const caller = program === undefined ? {} : { type: 'code_execution_20260120', tool_id: program };
  const made = { type: 'tool_use', id, name: 'read_file', input: { path: `${id}.ts` } };
  return program === undefined ? made : { ...made, caller };
};

/** Claude's successive answers in one turn. */
function answersOf(turn: number): readonly (readonly Part[])[] {
  const [program, search, fetch] = [`p${turn}`, `s${turn}`, `f${turn}`];
  const ran = { type: 'code_execution_result', stdout: LONG, stderr: '', return_code: 0 };
  return [
    [
      ...(turn % 3 === 0 ? [] : [THOUGHT]),
      { type: 'server_tool_use', id: search, name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: search, content: [] },
      { type: 'server_tool_use', id: program, name: 'code_execution', input: {} },
      call(`a${turn}`, program),
      call(`b${turn}`, program),
    ],
    [...(turn % 2 === 0 ? [] : [THOUGHT]), call(`c${turn}`, program)],
    [
      { type: 'code_execution_tool_result', tool_use_id: program, content: ran },
      { type: 'text', text: 'It has run.' },
      call(`d${turn}`),
    ],
    [THOUGHT, { type: 'server_tool_use', id: fetch, name: 'web_fetch', input: {} }],
    [
      { type: 'web_fetch_tool_result', tool_use_id: fetch, content: { type: 'web_fetch_result' } },
      call(`e${turn}`),
    ],
    [{ type: 'text', text: `Done with ${turn}.` }],
  ];
}

/** Reasons to refuse: parts without their partner, and other parts between a program and its result. */
function refusals(messages: readonly Message[]): readonly string[] {
  const text = JSON.stringify(messages);
  const open = new Set<unknown>();
  const found: string[] = [];
  for (const { role, content } of messages) {
    const parts = (typeof content === 'string' ? [{ type: 'text' }] : content) as readonly Part[];
    const isWithin = [...open].some((id) => String(id).startsWith('p'));
    for (const { type, id, tool_use_id: answered } of parts) {
      if (id !== undefined) open.add(id);
      else if (answered !== undefined) {
        if (!open.delete(answered)) found.push(`${type} of ${JSON.stringify(answered)} alone`);
      } else if (isWithin && role === 'user') found.push(`${type} within a program`);
    }
    if (role === 'user' && [...open].some((id) => /^[a-e]/.test(String(id)))) found.push('open');
    if (parts.every(({ type }) => type === 'thinking')) found.push('nothing but thinking');
  }
  const isCompacted = text.startsWith('[{"role":"assistant","content":[{"type":"compaction"');
  if (isCompacted && open.size === 0 && !text.includes('Record of what was asked'))
    found.push('no note');
  return found;
}

async function play(settings: EphemeralSettings): Promise<{
  readonly refused: readonly string[];
  readonly broken: number;
  readonly requests: readonly string[];
  readonly given: readonly Message[];
}> {
  await using compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: LIMIT, settings },
  });
  const seals = new ReasoningSeals();
  const standsFor = new Map<string, ReturnType<typeof partsOfMessages>>();
  const requests: string[] = [];
  const refused: string[] = [];
  let broken = 0;
  let answer: readonly Part[] = [];
  const fetch: typeof globalThis.fetch = (_, init) => {
    const { messages, compaction } = JSON.parse(init?.body as string) as {
      readonly messages: readonly Message[];
      readonly compaction?: object;
    };
    const [first] = messages;
    const block = JSON.stringify(Array.isArray(first?.content) ? first.content[0] : undefined);
    const stood = standsFor.get(block) ?? [];
    const parts = [...stood, ...partsOfMessages(messages.slice(stood.length === 0 ? 0 : 1))];
    broken += seals.broken(parts).length;
    refused.push(...refusals(messages));
    const usage = { input_tokens: Math.ceil((init?.body as string).length / 4), output_tokens: 5 };
    const reply = { id: 'm', type: 'message', role: 'assistant', model: 'claude-opus-5-5', usage };
    if (compaction !== undefined) {
      const summary = { type: 'compaction', content: `summary ${standsFor.size}`, signature: 's' };
      standsFor.set(JSON.stringify(summary), parts);
      return Promise.resolve(
        Response.json({ ...reply, content: [summary], stop_reason: 'compaction' }),
      );
    }
    requests.push(JSON.stringify(messages));
    const content = answer.map((part) =>
      part.type === 'thinking' ? { ...part, signature: seals.seal(parts) } : part,
    );
    return Promise.resolve(Response.json({ ...reply, content, stop_reason: 'end_turn' }));
  };
  const client = new Anthropic({
    ...{ apiKey: 'none', maxRetries: 0, fetch },
    middleware: [compactionMiddleware(compactor, { onError: 'throw' })],
  });
  const messages: Message[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    messages.push({ role: 'user', content: `Part ${turn}? ${LONG}` });
    for (answer of answersOf(turn)) {
      const { content } = await client.beta.messages.create({
        ...{ model: 'claude-opus-5-5', max_tokens: 100, messages },
      });
      messages.push({ role: 'assistant', content });
      const results = content.flatMap(({ type, ...part }) =>
        type === 'tool_use' && 'id' in part
          ? [{ type: 'tool_result', tool_use_id: part.id, content: LONG } as const]
          : [],
      );
      const isDirect = results.some((result) => result.tool_use_id.startsWith('d'));
      const said = { type: 'text', text: `Mind the gap ${turn}.` } as const;
      if (results.length > 0)
        messages.push({ role: 'user', content: isDirect ? [...results, said] : results });
    }
  }
  return { refused, broken, requests, given: messages };
}

describe('a conversation with programs and pauses', () => {
  it.each<[string, EphemeralSettings]>([
    ['high-density', {}],
    ['top-down-truncation', { 'compression.strategy': 'top-down-truncation' }],
    ['provider', { 'compression.strategy': 'provider' }],
    ['provider, late', { 'compression.strategy': 'provider', 'compression.ahead': 1 }],
  ])('stays valid and fits the window, by %s', async (_, settings) => {
    const { refused, broken, requests, given } = await play(settings);
    expect(refused).toEqual([]);
    expect(broken).toBe(0);
    expect(requests).toHaveLength(6 * TURNS);
    expect(Math.max(...requests.map(({ length }) => length))).toBeLessThan(LIMIT * 6);
    expect(JSON.stringify(given).length).toBeGreaterThan(LIMIT * 12);
    // The newest turn is unchanged.
    expect(requests.at(-1)).toContain(`"p${TURNS - 1}"`);
  });
});
