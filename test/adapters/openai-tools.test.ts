// Sessions of agents that use OpenAI's own tools: calls keep their answers, in the shape that the API requires.

import type { ModelMessage } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';

import { messageCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { REMOVED_SCREENSHOT } from '../../src/adapters/format/screenshot.js';
import { inputCompactor } from '../../src/adapters/openai/input-compactor.js';
import { createCompactor } from '../../src/main/compactor.js';

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

const PICTURE = 'data:image/png;base64,AAAA';

/** A call of the computer, and the screenshot. */
function use(toolCallId: string): readonly ModelMessage[] {
  const call = { toolCallId, toolName: 'computer' };
  const image = { type: 'computer_screenshot', imageUrl: PICTURE };
  const input = { actions: [{ type: 'screenshot' }], pendingSafetyChecks: [] };
  const output = { type: 'json', value: { output: image } };
  return [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
  ] as readonly ModelMessage[];
}

describe('a session that uses a computer', () => {
  it.each(['high-density', 'top-down-truncation'] as const)(
    'keeps the newest screenshots, and fits the window, by %s',
    async (strategy) => {
      const settings = { 'compression.strategy': strategy, 'compression.ahead': 1 };
      await using compactor = createCompactor({
        offload: 'inline',
        contextLimit: 16_000,
        settings,
      });
      const compact = messageCompactor(compactor, { onError: 'throw' });
      const messages: ModelMessage[] = [user('Book the flight.')];
      for (let at = 0; at < 40; at += 1) {
        messages.push(...use(`call_${at}`));
        if (at === 20) messages.push(user('The one at noon.'));
        const sent = await compact(messages);
        const [pictures, removed] = [PICTURE, REMOVED_SCREENSHOT].map(
          (url) => JSON.stringify(sent).split(url).length - 1,
        );
        expect(sent[0]).toBe(messages[0]);
        expect(sent.slice(-2)).toEqual(messages.slice(-2));
        expect(pictures).toBeLessThan(10);
        const uses = sent.filter(({ role }) => role === 'tool').length;
        expect(uses).toBe((pictures ?? 0) + (removed ?? 0));
        expect(sent.filter(({ role }) => role === 'assistant')).toHaveLength(uses);
      }
    },
  );
});

describe("a session with OpenAI's own tools, through the Responses API", () => {
  type Item = OpenAI.Responses.ResponseInputItem;
  const LOG = Array.from({ length: 80 }, (_, at) => `src/part${at % 7}.ts: compiled ${at}`).join(
    '\n',
  );

  /** A call of one of the tools with its reasoning, and the answer. */
  const uses: Readonly<Record<string, (at: number) => readonly object[]>> = {
    shell: (at) => [
      { type: 'shell_call', action: { commands: [`make ${at}`] } },
      {
        type: 'shell_call_output',
        output: [{ stdout: `${LOG} ${at}`, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    apply_patch: (at) => [
      {
        type: 'apply_patch_call',
        operation: { type: 'create_file', path: `${at}.ts`, diff: LOG },
      },
      { type: 'apply_patch_call_output', status: 'completed', output: 'Done.' },
    ],
    computer: () => [
      { type: 'computer_call', actions: [] },
      {
        type: 'computer_call_output',
        output: { type: 'computer_screenshot', image_url: 'data:,' },
      },
    ],
  };

  it.each(Object.keys(uses))(
    'fits the window, and keeps calls with their answers: %s',
    async (tool) => {
      await using compactor = createCompactor({ offload: 'inline', contextLimit: 12_000 });
      const compact = inputCompactor(compactor, { onError: 'throw' });
      const input: Item[] = [{ role: 'user', content: 'Build it.' }];
      for (let at = 0; at < 40; at += 1) {
        const [call, answer] = (uses[tool]?.(at) ?? []).map((item) => ({
          ...item,
          call_id: `c${at}`,
        }));
        const reasoning = { type: 'reasoning', id: `rs_${at}`, summary: [] };
        input.push(...([reasoning, { ...call, id: `x${at}` }, answer] as Item[]));
        const sent = (await compact(input)) as readonly { type?: string; call_id?: string }[];
        const ids = (type: string) =>
          sent.filter((item) => item.type === type).map((item) => item.call_id);
        expect(ids(`${tool}_call`)).toEqual(ids(`${tool}_call_output`));
        expect(sent.filter(({ type }) => type === 'reasoning')).toHaveLength(
          ids(`${tool}_call`).length,
        );
        expect(sent.slice(-3, -1)).toEqual(input.slice(-3, -1));
        expect(Object.keys(sent.at(-1) ?? {})).toEqual(Object.keys(answer ?? {}));
      }
      expect(JSON.stringify(await compact(input)).length).toBeLessThan(12_000 * 4);
    },
  );
});
