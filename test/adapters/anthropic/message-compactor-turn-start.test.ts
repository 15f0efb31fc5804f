import { describe, expect, it } from 'vitest';

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { MESSAGE_PARAM_FORMAT } from '../../../src/adapters/anthropic/message-param-format.js';
import { restoreTurnStart } from '../../../src/adapters/anthropic/message-compactor.js';
import { ask, exchange, say } from './conversations.js';

const format = MESSAGE_PARAM_FORMAT;
const question = ask('Fix a.ts.');
const start = exchange('toolu_1', 'read_file', 'a.ts', { thinking: 'I look.' });
const second = exchange('toolu_2', 'write_file', 'a.ts');
const third = exchange('toolu_3', 'search', 'b.ts');
const MESSAGES = [say('Hello.'), question, ...start, ...second, ...third];

function restore(...compacted: readonly MessageParam[]): readonly MessageParam[] {
  return restoreTurnStart([...compacted], MESSAGES);
}

describe('restoreTurnStart', () => {
  it('restores the call with the reasoning that starts the turn', () => {
    expect(restore(question, ...second, ...third)).toEqual(MESSAGES.slice(1));
    expect(restore(question, ...third)).toEqual([question, ...start, ...third]);
  });

  it('restores redacted reasoning as well', () => {
    const [call, answer] = start as [MessageParam, MessageParam];
    const sealed = { type: 'redacted_thinking' as const, data: 'EmwK' };
    const begun = { ...call, content: [sealed, ...call.content.slice(1)] } as MessageParam;
    const messages = [question, begun, answer, ...third];
    expect(restoreTurnStart([question, ...third], messages)).toEqual(messages);
  });

  it('restores it behind a summary that replaced it', () => {
    expect(restore(ask('What was.'), ...third)).toEqual([ask('What was.'), ...start, ...third]);
  });

  it('restores it in place of the acknowledgement of that summary', () => {
    const summary = [ask('What was.'), say('Noted.')];

    expect(restore(...summary, ...third)).toEqual([summary[0], ...start, ...third]);
    // An answer of the model stays.
    expect(restore(say('Hello.'), ...third)).toEqual([say('Hello.'), ...start, ...third]);
  });

  it('restores nothing twice', () => {
    const compacted = [question, ...start, ask('What was.'), ...third];

    expect(restore(...compacted)).toEqual(compacted);
  });

  it('leaves a turn that starts with reasoning as it is, also without the results beside a text of the user', () => {
    const [call, answer] = second as [MessageParam, MessageParam];
    const aside = { type: 'text' as const, text: 'Mind b.ts.' };
    const answered = { ...answer, content: [...(answer.content as []), aside] };
    const left = format.rewrite(answered, new Map([[0, null]]));
    const messages = [question, ...start, call, answered, ...third];
    const compacted = [question, ...start, left, ...third];

    expect(restoreTurnStart(compacted, messages)).toBe(compacted);
  });

  it('takes a text in its own message behind results for the same turn, as the API does', () => {
    const aside = ask('Mind b.ts.');
    const messages = [question, ...start, aside, ...second, ...third];

    const compacted = restoreTurnStart([question, aside, ...third], messages);

    expect(compacted).toEqual([question, ...start, aside, ...third]);
  });

  it('restores the question and the start of the turn with such a call, if it is the first message', () => {
    const [call, answer] = second as [MessageParam, MessageParam];
    const aside = { type: 'text' as const, text: 'Mind b.ts.' };
    const answered = { ...answer, content: [...(answer.content as []), aside] };
    const left = format.rewrite(answered, new Map([[0, null]]));
    const messages = [say('Hello.'), question, ...start, call, answered, ...third];

    const compacted = restoreTurnStart([left, ...third], messages);

    // A list must not start with an assistant message, nor the turn with a call without reasoning.
    expect(compacted).toEqual([question, ...start, call, answered, ...third]);
  });

  it('restores the start, with all its results, where instructions stand before what is left', () => {
    const [call, answer] = start as [MessageParam, MessageParam];
    const another = { type: 'tool_use', id: 'toolu_9', name: 'search', input: {} } as const;
    const begun = { ...call, content: [...(call.content as []), another] } as MessageParam;
    const found: MessageParam = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'c.ts' }],
    };
    const instructions = { role: 'system', content: 'Be brief.' } as MessageParam;
    const messages = [question, begun, answer, found, instructions, ...third];

    const compacted = restoreTurnStart([question, instructions, ...third], messages);

    expect(compacted).toEqual(messages);
  });

  it('restores nothing from before a compaction by the server', () => {
    const [call, answer] = exchange('toolu_2', 'write_file', 'a.ts', { thinking: 'I write.' });
    const block = { type: 'compaction', content: 'What was.' } as never;
    const reply = { ...call!, content: [block, ...(call!.content as [])] };
    const messages = [question, ...start, reply, answer!];
    expect(restoreTurnStart([reply, answer!], messages)).toEqual([reply, answer]);
  });

  it.each([
    ['the turn starts as it did', [question, ...start, ...third]],
    ['nothing of the turn is left', [question]],
  ])('leaves the list as it is when %s', (_, compacted) => {
    expect(restoreTurnStart(compacted, MESSAGES)).toBe(compacted);
  });

  it('does not restore the call once the turn is over', () => {
    const over = [...MESSAGES, say('Done.'), ask('Thanks.')];
    const compacted = [question, ...third, ...over.slice(-2)];

    expect(restoreTurnStart(compacted, over)).toBe(compacted);
  });

  it('finds the start of the turn in a list that has grown, shrunk or changed since the last call', () => {
    const first = ask('Begin.');
    const pieces = [[say('Done.')], [ask('And now?')], [...start], [...second], [...third]];
    const list: MessageParam[] = [first];
    // The period of these numbers is longer than the test.
    let seed = 7;
    const draw = (count: number): number => (seed = (seed * 31 + 17) % 10_007) % count;
    for (let round = 0; round < 300; round += 1) {
      if (draw(4) === 0) list.length = 1 + draw(list.length);
      if (draw(4) === 0) list[draw(list.length - 1) + 1] = structuredClone(pieces[draw(5)]![0]!);
      list.push(...(pieces[draw(5)] ?? []));
      const compacted = [first, ...list.slice(1 + draw(list.length))];
      const unknown = new Map(list.map((message) => [message, { ...message }]));
      const fresh = restoreTurnStart(
        compacted.map((message) => unknown.get(message)!),
        list.map((message) => unknown.get(message)!),
      );

      expect(restoreTurnStart(compacted, [...list])).toEqual(fresh);
    }
  });
});
