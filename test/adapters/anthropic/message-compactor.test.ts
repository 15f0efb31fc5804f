import { readFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';

import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta/messages';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { messageCompactor } from '../../../src/adapters/anthropic/message-compactor.js';
import { MessageParamReader } from '../../../src/adapters/anthropic/message-param-reader.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { agentPreset } from '../../../src/main/formats/presets.js';
import { AGGRESSIVE_WORKING_SET } from '../../../src/shared/density/rules/working-set-rules.js';
import { findRequestViolations } from '../../../src/shared/providers/validate.js';
import { readAnthropicRequest } from '../../support/requests/anthropic.js';
import { arbitraryMessages } from './arbitrary-messages.js';
import { ask, exchange, say, staleRead } from './conversations.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { runs } from '../../support/scale.js';
import { readAll } from '../../support/read-all.js';

/** One per test: to a compactor, conversations that begin alike are the same one. */
let compactor: Compactor;
beforeEach(() => {
  compactor = createCompactor({ offload: 'inline', workspaceRoot: '/work' });
});
afterEach(() => compactor.close());

/** The API's reasons to refuse; with a thinking budget, turns have to start with reasoning. */
function refusals(messages: readonly MessageParam[], hasBudget = false): readonly string[] {
  const body = { messages, ...(hasBudget && { thinking: { type: 'enabled' } }) };
  return findRequestViolations(readAnthropicRequest(body), 'anthropic').map(
    ({ message }) => message,
  );
}

function partsOf({ content }: MessageParam): readonly unknown[] {
  return typeof content === 'string' ? [content] : content;
}

/** New objects for the messages, with a breakpoint at their end, which turns a text into a part. */
function marked(messages: readonly MessageParam[]): MessageParam[] {
  const copies = structuredClone(messages) as MessageParam[];
  const last = copies.at(-1);
  if (typeof last?.content === 'string') last.content = [{ type: 'text', text: last.content }];
  const part = last?.content.at(-1);
  if (typeof part === 'object') Object.assign(part, { cache_control: { type: 'ephemeral' } });
  return deepFreeze(copies);
}

describe('messageCompactor', () => {
  it('removes a stale read, and returns the same objects for the other messages', async () => {
    const messages = deepFreeze(staleRead());
    const compact = messageCompactor(compactor, { edits: 'every-turn' });

    const compacted = await compact(messages);

    expect(compacted).toHaveLength(5);
    expect(compacted.map((message) => messages.indexOf(message))).toEqual([0, 3, 4, 5, 6]);
  });

  it('recognizes a conversation that continues', async () => {
    const messages = staleRead();
    const sessions: string[] = [];
    const compact = messageCompactor(compactor, {
      edits: 'every-turn',
      onSession: ({ sessionId }) => sessions.push(sessionId),
    });
    const before = await compact(messages);
    const more = [...messages, say('Done.'), ask('Thanks.')];

    const after = await compact(more);

    expect(after).toEqual([...before, ...more.slice(-2)]);
    expect(sessions).toHaveLength(1);
  });

  it('recognizes a conversation whose breakpoint moves, and sends only the present breakpoint', async () => {
    const messages = staleRead();
    const sessions: string[] = [];
    const compact = messageCompactor(compactor, {
      edits: 'every-turn',
      onSession: ({ sessionId }) => sessions.push(sessionId),
    });
    const breakpoints: number[] = [];
    for (const count of [1, 3, 5, 7]) {
      const given = marked(messages.slice(0, count));
      const compacted = await compact(given);
      breakpoints.push(JSON.stringify(compacted).split('cache_control').length - 1);
      expect(compacted.at(-1)).toBe(given.at(-1));
    }

    expect(breakpoints).toEqual([1, 1, 1, 1]);
    expect(sessions).toHaveLength(1);
  });

  it('keeps breakpoints and reasoning beside an edited part', async () => {
    const [question, call, answer] = staleRead() as [MessageParam, MessageParam, MessageParam];
    const messages = [
      question,
      { ...call, content: [{ type: 'text' as const, text: 'I read.' }, ...(call.content as [])] },
      {
        ...answer,
        content: [
          ...(answer.content as []),
          {
            type: 'text' as const,
            text: 'Mind b.ts.',
            cache_control: { type: 'ephemeral' as const },
          },
        ],
      },
      ...staleRead().slice(3),
    ];
    const compact = messageCompactor(compactor, { edits: 'every-turn' });

    const compacted = await compact(deepFreeze(messages));

    expect(compacted[1]?.content).toEqual([{ type: 'text', text: 'I read.' }]);
    expect(compacted[1]?.content[0]).toBe(messages[1]?.content[0]);
    expect(compacted[2]?.content[0]).toBe(messages[2]?.content[1]);
  });

  it('refuses a value that is no list, and an invalid message', async () => {
    const compact = messageCompactor(compactor, { onError: 'throw' });

    await expect(compact({} as never)).rejects.toThrow(TypeError);
    await expect(compact([null] as never)).rejects.toThrow(TypeError);
  });

  it('refuses invalid options', () => {
    expect(() => messageCompactor(compactor, { maxConversations: 0 })).toThrow(RangeError);
  });

  it('accepts messages of the beta API', () => {
    const compact = messageCompactor<BetaMessageParam>(compactor);

    expectTypeOf(compact).parameter(0).toEqualTypeOf<readonly BetaMessageParam[]>();
    expectTypeOf(messageCompactor(compactor)).returns.resolves.toEqualTypeOf<MessageParam[]>();
  });

  describe('with reasoning', () => {
    const thinking = { thinking: 'Hm.' };
    const signatures = (messages: readonly MessageParam[]): readonly string[] =>
      JSON.stringify(messages).match(/sig_toolu_\d/g) ?? [];

    it('removes the reasoning behind an edit by default', async () => {
      const compact = messageCompactor(compactor, { edits: 'every-turn' });

      expect(signatures(await compact(staleRead(thinking)))).toEqual([]);
    });

    it('keeps it byte for byte with `keep`', async () => {
      const messages = deepFreeze(staleRead(thinking));
      const compact = messageCompactor(compactor, { edits: 'every-turn', reasoning: 'keep' });

      const compacted = await compact(messages);

      expect(signatures(compacted)).toEqual(['sig_toolu_2', 'sig_toolu_3']);
      expect(compacted.map((message) => messages.indexOf(message))).toEqual([0, 3, 4, 5, 6]);
    });

    it('keeps the calls of results that are spread over several messages of the user', async () => {
      const both = (name: 'read_file' | 'write_file', ids: readonly [string, string]) => {
        const [a, b] = [exchange(ids[0], name, 'a.ts', thinking), exchange(ids[1], name, 'b.ts')];
        const calls = { ...a[0]!, content: [...partsOf(a[0]!), ...partsOf(b[0]!)] };
        return [calls as MessageParam, a[1]!, b[1]!] as const;
      };
      const [reads, first, second] = both('read_file', ['toolu_1', 'toolu_2']);
      const aside = { type: 'text', text: 'Mind c.ts.' };
      const messages = deepFreeze([
        ...[ask('Fix them.'), reads, first],
        { role: 'user', content: [...partsOf(second), aside] } as MessageParam,
        ...both('write_file', ['toolu_3', 'toolu_4']),
        ...exchange('toolu_5', 'search', 'b.ts'),
      ]);
      const compact = messageCompactor(compactor, { edits: 'every-turn', reasoning: 'keep' });

      // Without the reads, the text beside their results would start another turn.
      expect(await compact(messages)).toEqual(messages);
    });

    it('edits nothing in front of it with `forbid-edits`', async () => {
      const messages = deepFreeze(staleRead(thinking));
      const compact = messageCompactor(compactor, {
        edits: 'every-turn',
        reasoning: 'forbid-edits',
      });

      expect(await compact(messages)).toEqual(messages);
    });
  });

  it('makes no valid conversation invalid', async () => {
    let edited = 0;
    await fc.assert(
      fc.asyncProperty(
        arbitraryMessages,
        fc.constantFrom('strip-after-first-edit' as const, 'keep' as const),
        async (messages, reasoning) => {
          const compact = messageCompactor(compactor, { edits: 'every-turn', reasoning });
          for (let end = 1; end <= messages.length; end += 2) {
            const given = messages.slice(0, end);
            const compacted = await compact(given);
            const hasBudget = reasoning === 'keep';
            if (refusals(given, hasBudget).length === 0) {
              expect(refusals(compacted, hasBudget)).toEqual([]);
            }
            const parts = new Set(given.flatMap(partsOf));
            for (const message of compacted) {
              if (given.includes(message)) continue;
              edited += 1;
              // Apart from texts and results, the parts that an edit leaves are the caller's own objects.
              for (const part of message.content) {
                if (typeof part === 'object' && !/^(?:text|tool_result)$/.test(part.type)) {
                  expect(parts.has(part)).toBe(true);
                }
              }
            }
          }
        },
      ),
      { numRuns: runs(60) },
    );
    expect(edited).toBeGreaterThan(0);
  });

  describe('on recorded sessions', () => {
    it('reads and compacts the messages that Claude Code sent', async () => {
      const messages = deepFreeze(await claudeCodeMessages());
      const compact = messageCompactor(compactor, {
        edits: 'every-turn',
        density: {
          toolCatalog: agentPreset('claude-code').toolCatalog,
          workingSet: AGGRESSIVE_WORKING_SET,
        },
      });

      const compacted = await compact(messages);

      expect(messages.length).toBeGreaterThan(50);
      expect(JSON.stringify(compacted).length).toBeLessThan(JSON.stringify(messages).length);
      expect(refusals(compacted).length).toBeLessThanOrEqual(refusals(messages).length);
    });

    it('reads every part of the messages that Cline sent', async () => {
      const text = await readFile(new URL('cline/session.messages.json', TRANSCRIPTS), 'utf8');
      const { messages } = JSON.parse(text) as { readonly messages: readonly MessageParam[] };

      const { entries } = readAll(new MessageParamReader(), deepFreeze(messages), 0);

      const blocks = entries.flatMap((entry) => entry.blocks);
      expect(blocks).toHaveLength(messages.flatMap(partsOf).length);
      expect(new Set(blocks.map(({ type }) => type))).toContain('opaque');
    });
  });
});

const TRANSCRIPTS = new URL('../../fixtures/transcripts/', import.meta.url);

/** A message of the model is recorded on several lines; the API takes them as one message. */
async function claudeCodeMessages(): Promise<MessageParam[]> {
  const file = new URL('claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl', TRANSCRIPTS);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const messages: MessageParam[] = [];
  for (const line of lines) {
    const record = JSON.parse(line) as {
      readonly isSidechain?: boolean;
      readonly message?: MessageParam;
    };
    if (record.isSidechain === true || record.message?.role === undefined) continue;
    const { role, content } = record.message;
    messages.push({ role, content } as MessageParam);
  }
  return messages;
}
