// The long history that examples and tests use: valid in every format, with stale reads to prune.

import { describe, expect, it } from 'vitest';

import { modelMessages } from '../../examples/support/history-as/ai-sdk.js';
import { anthropicMessages } from '../../examples/support/history-as/anthropic.js';
import { geminiContents } from '../../examples/support/history-as/gemini.js';
import { chatMessages } from '../../examples/support/history-as/openai-chat.js';
import { responseItems } from '../../examples/support/history-as/openai-responses.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from '../../examples/support/recorded-history.js';
import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import { isBlank } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { applyDensityResult, DEFAULT_DENSITY_CONFIG } from '../../src/shared/density.js';
import { optimize } from '../../src/shared/density/plan/optimize.js';
import { PROVIDER_PROFILES } from '../../src/shared/providers/provider-violation.js';
import { validate } from '../../src/shared/providers/validate.js';
import { findBreaches } from '../support/find-breaches.js';

type Write = (history: readonly IContent[]) => readonly unknown[];

const FORMATS: readonly (readonly [name: string, write: Write])[] = [
  ['anthropicMessages', anthropicMessages],
  ['chatMessages', chatMessages],
  ['responseItems', responseItems],
  ['geminiContents', geminiContents],
  ['modelMessages', modelMessages],
];

const APIS: readonly (readonly [api: ProviderApi, list: string, write: Write])[] = [
  ['anthropic', 'messages', anthropicMessages],
  ['openai-chat', 'messages', chatMessages],
  ['openai-responses', 'input', responseItems],
  ['gemini', 'contents', geminiContents],
];

describe('recordedHistory', () => {
  it.each(['none', 'signed'] as const)(
    'is valid for every provider (reasoning: %s)',
    async (reasoning) => {
      const history = await recordedHistory({ reasoning });
      for (const profile of PROVIDER_PROFILES) expect(validate(history, profile)).toEqual([]);
      const thinking = history.some(({ blocks }) => blocks.some(({ type }) => type === 'thinking'));
      expect(thinking).toBe(reasoning === 'signed');
    },
  );

  it('starts with a human entry and ends with an answer, wherever it is cut', async () => {
    for (const messages of [1, 100, 300, 550]) {
      const history = await recordedHistory({ messages });
      const last = history.at(-1);
      expect([history[0]?.speaker, last?.speaker]).toEqual(['human', 'ai']);
      expect(last?.blocks.some(({ type }) => type === 'tool_call')).toBe(false);
      expect(anthropicMessages(history).length).toBeGreaterThanOrEqual(messages);
      for (const profile of PROVIDER_PROFILES) expect(validate(history, profile)).toEqual([]);
    }
  });

  it('rejects a request for more than was recorded', async () => {
    await expect(recordedHistory({ messages: 5000 })).rejects.toThrow(
      /^Expected at most \d{3} messages, as many as are recorded, got 5000\.$/,
    );
  });

  it('holds dozens of stale reads, and stays valid without them', async () => {
    const history = await recordedHistory();
    const toolCatalog = RECORDED_TOOL_CATALOG;
    const config = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/workspace', toolCatalog };
    const result = optimize(history, config);
    expect(result.metadata.readWritePairsPruned).toBe(50);
    applyDensityResult(history, result);
    for (const profile of PROVIDER_PROFILES) expect(validate(history, profile)).toEqual([]);
  });
});

describe.each(FORMATS)('%s', (_name, write) => {
  it('makes at least 500 messages of it', async () => {
    const messages = write(await recordedHistory());
    expect(messages.length).toBeGreaterThanOrEqual(500);
    expect(messages).toEqual(JSON.parse(JSON.stringify(messages)));
  });

  it('keeps every text and every result', async () => {
    const history = await recordedHistory({ messages: 100 });
    const written = JSON.stringify(write(history));
    const said = history.flatMap(({ blocks }) =>
      blocks.flatMap((block) => {
        const text = block.type === 'tool_response' ? block.result : undefined;
        const spoken = block.type === 'text' ? block.text : text;
        return typeof spoken === 'string' && !isBlank(spoken) ? [spoken] : [];
      }),
    );
    expect(said.length).toBeGreaterThan(50);
    const isMissing = (text: string): boolean =>
      !written.includes(JSON.stringify(text).slice(1, -1));
    expect(said.filter(isMissing)).toEqual([]);
  });
});

describe('findBreaches', () => {
  it.each(APIS)('finds no breach in a request to %s', async (api, list, write) => {
    const path = '/v1beta/models/gemini-2.5-pro:generateContent';
    const body = { [list]: write(await recordedHistory()) };
    expect(findBreaches({ api, path, headers: {}, body })).toEqual([]);
  });

  it.each(APIS)('finds the missing call in a request to %s', async (api, list, write) => {
    const history = await recordedHistory();
    const calls = history.findLastIndex(({ blocks }) =>
      blocks.some(({ type }) => type === 'tool_call'),
    );
    const path = '/v1beta/models/gemini-2.5-pro:generateContent';
    const body = { [list]: write(history.toSpliced(calls, 1)) };
    expect(findBreaches({ api, path, headers: {}, body })).toMatchObject([
      { rule: expect.stringMatching(/^tool-(call|result)-/) },
    ]);
  });
});
