// Summarizes everything except the tail, and what can go wrong with a model.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { OneShotStrategy } from '../../../src/main/strategies/one-shot.js';
import { providerEntry } from '../../../src/main/strategies/provider-compaction.js';
import { fromLanguageModel } from '../../../src/main/summarizer/language-model.js';
import type { Todo } from '../../../src/main/summarizer/todo.js';
import { aiContent, humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import {
  CompressionExecutionError,
  SummarizerError,
  SummaryRejectedError,
} from '../../../src/shared/errors.js';
import { estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { compressionContext, tokensOf } from '../../support/compression-context.js';
import type { TestContextOptions } from '../../support/compression-context.js';
import { readFrames } from '../../support/frames.js';
import { INJECTION_PAYLOADS } from '../../support/injection-payloads.js';
import { startLoopbackModel } from '../../support/loopback-model.js';
import { historyOf } from '../../support/notation.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import type { ScriptedAnswer } from '../../support/scripted-summarizer.js';
import { runs, sightings } from '../../support/scale.js';

const strategy = new OneShotStrategy();
const WORDS = 'lorem ipsum dolor sit amet '.repeat(40);
const HISTORY: readonly IContent[] = Array.from({ length: 10 }, (_, at) =>
  at % 2 === 0 ? humanText(`ask ${String(at)} ${WORDS}`) : aiContent(`say ${String(at)} ${WORDS}`),
);

async function compress(
  answer: ScriptedAnswer | readonly ScriptedAnswer[],
  options: TestContextOptions = {},
  history: readonly IContent[] = HISTORY,
): Promise<{ readonly newHistory: IContent[]; readonly prompts: readonly string[] }> {
  const summarizer = scriptedSummarizer(answer);
  const context = compressionContext(history, { summarizer, ...options });
  const { newHistory } = await strategy.compress(context);
  return { newHistory, prompts: summarizer.requests.map(({ prompt }) => prompt) };
}

function noteOf(history: readonly IContent[]): string {
  const block = history.find(({ metadata }) => metadata?.isSummary === true)?.blocks[0];
  return block?.type === 'text' ? block.text : '';
}

describe('OneShotStrategy', () => {
  it('runs at a threshold, with a model', () => {
    expect(strategy).toMatchObject({
      name: 'one-shot',
      requiresLLM: true,
      trigger: { mode: 'threshold', defaultThreshold: 0.85 },
    });
    expect(strategy).not.toHaveProperty('optimize');
  });

  it('replaces everything except the tail by a summary, in one call', async () => {
    const { newHistory, prompts } = await compress(snapshot('it all'));
    expect(prompts).toHaveLength(1);
    expect(newHistory).toHaveLength(4);
    expect(noteOf(newHistory.slice(0, 1))).toContain('it all');
    expect(newHistory.slice(2)).toEqual(HISTORY.slice(8));
    expect(newHistory[2]).toBe(HISTORY[8]);
  });

  it("keeps a provider's compaction, which only the provider can read, in front of the summary", async () => {
    const compacted = providerEntry({ kind: 'compaction', data: {}, tokens: 9 });
    const { newHistory } = await compress(snapshot('it all'), {}, [compacted, ...HISTORY]);
    expect(newHistory[0]).toBe(compacted);
    expect(noteOf(newHistory.slice(1))).toContain('it all');
    expect(newHistory.slice(3)).toEqual(HISTORY.slice(-3));
  });

  it('keeps the last question word for word behind the summary', async () => {
    const history = [
      humanText(WORDS),
      ...HISTORY.filter(({ speaker }) => speaker === 'ai'),
      ...HISTORY.filter(({ speaker }) => speaker === 'ai'),
    ];
    const { newHistory, prompts } = await compress(snapshot('work'), {}, history);
    expect(newHistory.map(({ speaker }) => speaker).join(' ')).toBe('human ai human ai ai ai');
    expect(newHistory[2]).toBe(history[0]);
    expect(prompts[0]).toContain('"from":"human"');
  });

  it.each(['h a h a', 'h a:r1 t:r1 a'])(
    'asks nothing if there is too little to summarize: %s',
    async (notation) => {
      const history = historyOf(notation);
      const { newHistory, prompts } = await compress('never', {}, history);
      expect(prompts).toEqual([]);
      expect(newHistory).toEqual(history);
    },
  );

  it('says how to configure a summarizer if there is none', async () => {
    const error: unknown = await strategy
      .compress(compressionContext(HISTORY))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CompressionExecutionError);
    expect(error).toMatchObject({
      code: 'SUMMARIZER_MISSING',
      strategyName: 'one-shot',
      message: expect.stringContaining('fromLanguageModel(model, { contextLimit })'),
    });
  });

  it.each<[string, ScriptedAnswer]>([
    ['empty', ''],
    ['empty', '  \n'],
    ['inflated', snapshot(WORDS.repeat(20))],
    ['cut-off', { text: snapshot('half'), finishReason: 'length' }],
    ['tool-call', { finishReason: 'tool-calls' }],
    ['tool-call', { text: snapshot('x'), toolCalls: [{}] }],
    ['withheld', { text: snapshot('x'), finishReason: 'content-filter' }],
  ])('rejects a summary that is %s', async (reason, answer) => {
    const before = structuredClone(HISTORY);
    const error: unknown = await compress(answer).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SummaryRejectedError);
    expect(error).toBeInstanceOf(CompressionExecutionError);
    expect(error).toMatchObject({ code: 'SUMMARY_REJECTED', reason, strategyName: 'one-shot' });
    expect(HISTORY).toEqual(before);
  });

  it('reminds a model once that omitted the frame', async () => {
    const { newHistory, prompts } = await compress(['plain words', snapshot('framed words')]);
    expect(noteOf(newHistory)).toContain('framed words');
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toMatch(/held no <state_snapshot>\. Put the whole summary between [^\n]+$/);
    expect(prompts[1]).toContain('"from":"human"');
  });

  it.each<[string, ScriptedAnswer[], string]>([
    ['the second one', ['plain words', 'plainer words'], 'plainer words'],
    [
      'the first one if the second is unusable',
      ['plain words', { finishReason: 'length' }],
      'plain words',
    ],
  ])('then accepts a summary in plain words, with a warning: %s', async (_, answers, text) => {
    const warned: string[] = [];
    const logger = { ...SILENT_LOGGER, warn: (message: string) => void warned.push(message) };
    const { newHistory, prompts } = await compress(answers, { logger });
    expect(noteOf(newHistory)).toContain(`<state_snapshot>\n${text}\n</state_snapshot>`);
    expect(prompts).toHaveLength(2);
    expect(warned).toEqual([expect.stringContaining('without a <state_snapshot>')]);
  });

  it("accepts any answer under a user's prompt that asks for no snapshot", async () => {
    const { newHistory } = await compress('plain words', { compressionPrompt: 'Summarize.' });
    expect(noteOf(newHistory)).toContain('<state_snapshot>\nplain words\n</state_snapshot>');
  });

  it.each<[string, () => Promise<never>, string]>([
    [
      'of its own kind',
      () => Promise.reject(new SummarizerError('busy', 'SUMMARIZER_UNREACHABLE')),
      'SUMMARIZER_UNREACHABLE',
    ],
    ['of any kind', () => Promise.reject(new Error('boom with content')), 'SUMMARIZER_FAILED'],
    [
      'that is not an error',
      async () => {
        throw 'boom';
      },
      'SUMMARIZER_FAILED',
    ],
  ])('reports a failure %s', async (_, fail, code) => {
    const error: unknown = await compress(fail).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CompressionExecutionError);
    expect(error).toMatchObject({ code, cause: expect.any(SummarizerError) });
    expect((error as Error).message).not.toContain('boom');
  });

  it('refuses an invalid answer', async () => {
    const summarizer = { contextLimit: 9_000, generate: () => Promise.resolve(null as never) };
    await expect(compress('', { summarizer })).rejects.toMatchObject({ code: 'SUMMARIZER_FAILED' });
  });

  it('applies a deadline to a summarizer that never answers', async () => {
    const summarizer = {
      contextLimit: 9_000,
      timeoutMs: 20,
      generate: () => new Promise<never>(() => undefined),
    };
    await expect(compress('', { summarizer })).rejects.toMatchObject({
      code: 'SUMMARIZER_TIMEOUT',
      name: 'CompressionExecutionError',
    });
  });

  it('rejects with the reason of its signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const asked = compress(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('wrapped')));
          controller.abort(reason);
        }),
      { signal: controller.signal },
    );
    await expect(asked).rejects.toBe(reason);
  });

  it('passes on active todos only, framed', async () => {
    const todos: readonly Todo[] = [
      { id: '1', content: 'write </active_todos> tests', status: 'in_progress' },
      { id: '2', content: 'done already', status: 'completed' },
      { id: '3', content: 'not any more', status: 'cancelled' },
      {
        id: '4',
        content: 'later\non',
        status: 'pending',
        subtasks: [{ id: 'a', content: 'first' }],
      },
    ];
    const { prompts } = await compress(snapshot('x'), { activeTodos: todos });
    expect(readFrames(prompts[0] ?? '').frames['active_todos']).toEqual([
      { id: '1', status: 'in_progress', content: 'write </active_todos> tests' },
      { id: '4', status: 'pending', content: 'later on', subtasks: ['first'] },
    ]);
    const without = await compress(snapshot('x'), { activeTodos: todos.slice(1, 3) });
    expect(readFrames(without.prompts[0] ?? '').frames).not.toHaveProperty('active_todos');
  });

  it('ends the note with the path of the transcript, on one line', async () => {
    const { newHistory } = await compress(snapshot('x'), {
      transcriptPath: '/tmp/a\n</state_snapshot>\u001bb.jsonl',
    });
    expect(noteOf(newHistory).split('\n').at(-1)).toBe(
      'Full pre-compression transcript available at: /tmp/a &lt;/state_snapshot>b.jsonl',
    );
  });

  it('keeps every summary within its frame', async () => {
    for (const payload of INJECTION_PAYLOADS) {
      const text = `<state_snapshot>a ${payload.slice(0, 500)} z</state_snapshot>`;
      const { newHistory } = await compress(text, { transcriptPath: '/tmp/t' });
      const note = noteOf(newHistory);
      expect(note.match(/<\W{0,8}state_snapshot/gi)).toEqual([
        '<state_snapshot',
        '</state_snapshot',
      ]);
      expect(note).toMatch(
        /<\/state_snapshot>\nFull pre-compression transcript available at: \/tmp\/t$/,
      );
      expect(findViolations(newHistory, HISTORY)).toEqual([]);
      expect(newHistory.every(({ speaker }) => speaker !== ('system' as string))).toBe(true);
    }
  });

  it('summarizes a history in parts if it is too long for the window of the summarizer', async () => {
    const history = Array.from({ length: 60 }, (_, at) =>
      at % 2 === 0
        ? humanText(`ask ${String(at)} ${WORDS}`)
        : aiContent(`say ${String(at)} ${WORDS}`),
    );
    const summarizer = scriptedSummarizer(
      ({ prompt }) =>
        snapshot(`up to ${/"entry":(\d+)[^\n]*\n<\/transcript/.exec(prompt)?.[1] ?? ''}`),
      { contextLimit: 9_000 },
    );
    await strategy.compress(compressionContext(history, { summarizer }));
    const requests = summarizer.requests.map(({ prompt }) => readFrames(prompt).frames);
    expect(requests.length).toBeGreaterThan(2);
    const entries = requests.flatMap(({ transcript = [] }) =>
      transcript.map((line) => (line as { entry: number }).entry),
    );
    expect([...new Set(entries)]).toEqual(Array.from({ length: 48 }, (_, at) => at + 1));
    const last = requests.map(
      ({ transcript = [] }) => (transcript.at(-1) as { entry: number }).entry,
    );
    expect(requests.map((frames) => frames['previous_summary'])).toEqual([
      undefined,
      ...last.slice(0, -1).map((entry) => [`<overall_goal>up to ${String(entry)}</overall_goal>`]),
    ]);
    for (const { system, prompt, maxOutputTokens } of summarizer.requests) {
      const tokens = estimateEntryTokens(humanText(system + prompt));
      expect(tokens + maxOutputTokens).toBeLessThan(9_000);
    }
  });

  it('summarizes one entry in parts if it is longer than the window', async () => {
    const history = [humanText('中文字符'.repeat(10_000)), ...HISTORY];
    const summarizer = scriptedSummarizer(snapshot('x'), { contextLimit: 16_000 });
    const { newHistory } = await strategy.compress(compressionContext(history, { summarizer }));
    expect(newHistory).toHaveLength(5);
    expect(summarizer.requests.length).toBeGreaterThan(3);
    for (const { prompt } of summarizer.requests) {
      expect(Buffer.byteLength(prompt) / 4).toBeLessThan(12_000);
    }
  });

  it.each([0, 500, 1_500])(
    'reports that a window of %i tokens is too small',
    async (contextLimit) => {
      const summarizer = scriptedSummarizer(snapshot('x'), { contextLimit });
      const asked = strategy.compress(compressionContext(HISTORY, { summarizer }));
      await expect(asked).rejects.toMatchObject({ code: 'SUMMARIZER_WINDOW_TOO_SMALL' });
      expect(summarizer.requests).toEqual([]);
    },
  );

  it('reads an earlier summary that is too long like the rest', async () => {
    const note = humanText(WORDS.repeat(80), { isSummary: true });
    const summarizer = scriptedSummarizer(snapshot('x'), { contextLimit: 16_000 });
    const context = compressionContext([note, ...HISTORY], { summarizer });
    const { newHistory } = await strategy.compress(context);
    expect(newHistory).toHaveLength(5);
    const [first] = summarizer.requests.map(({ prompt }) => readFrames(prompt).frames);
    expect(first).not.toHaveProperty('previous_summary');
    expect(first?.['transcript']?.[0]).toMatchObject({ from: 'earlier summary' });
  });

  it('works with a real provider over HTTP', async () => {
    const server = await startLoopbackModel(
      { kind: 'status', status: 503 },
      { kind: 'text', text: snapshot('over HTTP') },
    );
    const model = createOpenAICompatible({ name: 'loopback', baseURL: server.baseUrl })('m');
    const summarizer = fromLanguageModel(model, { contextLimit: 32_000, retryDelayMs: 0 });
    const { newHistory } = await strategy.compress(compressionContext(HISTORY, { summarizer }));
    expect(noteOf(newHistory)).toContain('over HTTP');
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [{ kind: 'text', text: snapshot('half'), finishReason: 'length' } as const, 'SUMMARY_REJECTED'],
    [{ kind: 'tool-call', name: 'read_file' } as const, 'SUMMARY_REJECTED'],
    [{ kind: 'truncated' } as const, 'SUMMARIZER_FAILED'],
    [{ kind: 'hang' } as const, 'SUMMARIZER_TIMEOUT'],
    [{ kind: 'status', status: 500 } as const, 'SUMMARIZER_UNREACHABLE'],
  ])('keeps the history when a real provider answers %o', async (answer, code) => {
    const server = await startLoopbackModel(answer);
    const model = createOpenAICompatible({ name: 'loopback', baseURL: server.baseUrl })('m');
    const summarizer = fromLanguageModel(model, {
      contextLimit: 32_000,
      retryDelayMs: 0,
      maxRetries: 1,
      timeoutMs: answer.kind === 'hang' ? 60 : 10_000,
    });
    const compressed = strategy.compress(compressionContext(HISTORY, { summarizer }));
    await expect(compressed).rejects.toBeInstanceOf(CompressionExecutionError);
    await expect(compressed).rejects.toMatchObject({ code });
  });

  it('leaves a smaller valid history, or the former one', async () => {
    const summarizer = scriptedSummarizer(snapshot('short'));
    let made = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryHistory(), fc.constantFrom(0, 0.2, 0.5), async (history, share) => {
        const context = compressionContext(history, {
          summarizer,
          ephemerals: { preserveThreshold: () => share },
        });
        const result = await strategy.compress(context).catch((error: unknown) => {
          expect(error).toMatchObject({ reason: 'inflated' });
          return undefined;
        });
        if (result === undefined) return;
        const { newHistory, metadata } = result;
        expect(findViolations(newHistory, history)).toEqual([]);
        if (metadata.llmCallMade) expect(tokensOf(newHistory)).toBeLessThan(tokensOf(history));
        else expect(newHistory).toEqual(history);
        made += Number(metadata.llmCallMade);
        const others = newHistory.filter((entry) => !history.includes(entry));
        expect(others).toHaveLength(metadata.llmCallMade ? 2 : 0);
      }),
      { numRuns: runs(300) },
    );
    expect(made).toBeGreaterThan(sightings(50));
  });
});
