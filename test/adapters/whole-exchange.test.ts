// Sessions of agents that use a computer: each use is sent unchanged, or removed as a whole.

import type { ModelMessage } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';

import { MODEL_MESSAGE_FORMAT } from '../../src/adapters/ai-sdk/sdk-message-format.js';
import { messageCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { MessageView } from '../../src/adapters/conversation/message-view.js';
import { inputCompactor } from '../../src/adapters/openai/input-compactor.js';
import { PER_SLICE } from '../../src/adapters/format/placed.js';
import { createCompactor } from '../../src/main/compactor.js';
import { runSlices } from '../../src/shared/slices.js';

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

/** A call of the computer, and the screenshot. */
function use(toolCallId: string): readonly ModelMessage[] {
  const call = { toolCallId, toolName: 'computer' };
  const image = { type: 'computer_screenshot', imageUrl: 'data:image/png;base64,AAAA' };
  const input = { actions: [{ type: 'screenshot' }], pendingSafetyChecks: [] };
  const output = { type: 'json', value: { output: image } };
  return [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
  ] as readonly ModelMessage[];
}

describe('a session that uses a computer', () => {
  it.each([0, 1])('reads each use whole, wherever a slice ends (%i)', (before) => {
    const hellos = Array.from({ length: before }, () => user('Hello.'));
    const uses = Array.from({ length: 3 * PER_SLICE }, (_, at) => use(`call_${at}`)).flat();
    const view = new MessageView(MODEL_MESSAGE_FORMAT);
    const { entries } = runSlices(view.readInSlices([...hellos, ...uses]));
    expect(entries).toHaveLength(before + 3 * PER_SLICE);
  });

  it.each(['high-density', 'top-down-truncation'] as const)(
    'fits the window, and keeps calls with their screenshots, by %s',
    async (strategy) => {
      const settings = { 'compression.strategy': strategy, 'compression.ahead': 1 };
      await using compactor = createCompactor({
        offload: 'inline',
        contextLimit: 16_000,
        settings,
      });
      const compact = messageCompactor(compactor, { onError: 'throw' });
      const messages: ModelMessage[] = [user('Book the flight.')];
      let sent: readonly ModelMessage[] = messages;
      for (let at = 0; at < 40; at += 1) {
        messages.push(...use(`call_${at}`));
        if (at === 20) messages.push(user('The one at noon.'));
        sent = await compact(messages);
        expect(sent[0]?.role).toBe('user');
      }
      expect(sent.length).toBeLessThan(messages.length / 2);
      expect(sent.slice(-2)).toEqual(messages.slice(-2));
      for (const [at, message] of sent.entries()) {
        if (message.role === 'user') continue;
        const given = messages.indexOf(message);
        const partner = message.role === 'assistant' ? 1 : -1;
        if (given !== -1) expect(sent[at + partner]).toBe(messages[given + partner]);
      }
      expect(sent.filter(({ role }) => role === 'tool').length).toBeGreaterThan(1);
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
