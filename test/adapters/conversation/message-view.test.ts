import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { AnthropicMessage } from '../../../src/adapters/anthropic/message-part.js';
import { MESSAGE_PARAM_FORMAT } from '../../../src/adapters/anthropic/message-param-format.js';
import type { PlacedBlock, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import type { EntryChange } from '../../../src/main/history-change.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { humanText } from '../../../src/shared/content.js';
import { runSlices } from '../../../src/shared/slices.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  system,
  user,
} from '../../support/plain-message-format.js';
import type { PlainMessage, PlainPart } from '../../support/plain-message-format.js';
import { runs } from '../../support/scale.js';
import { readInto } from '../../support/read-all.js';

type Edits = ReadonlyMap<number, readonly ContentBlock[] | null>;

/** A view, and the history that a session would hold. */
class ViewedHistory {
  readonly view = new MessageView(PLAIN_MESSAGE_FORMAT);
  history: IContent[] = [];

  constructor(messages: readonly PlainMessage[]) {
    this.give(messages);
  }

  give(messages: readonly PlainMessage[]): void {
    const entries = readInto(this.view, messages);
    this.history.push(...entries);
  }

  /** Edits the history like a density pass, and passes the changes to the view. */
  edit(edits: Edits): void {
    const after = edited(this.history, edits);
    const changes = [...edits.keys()].map((index): EntryChange => {
      return { index, before: this.history[index]!, after: after[index]! };
    });
    this.history = after.filter((entry) => entry !== null);
    this.view.applyChanges(changes);
  }

  follow(history: readonly IContent[]): void {
    this.history = [...history];
    runSlices(this.view.followInSlices(history));
  }
}

const blocksOf = (viewed: ViewedHistory, entry: number): readonly ContentBlock[] =>
  viewed.history[entry]!.blocks;

/** The entries that replace an entry. */
function fateOf(entry: PlacedEntry, fate: string): IContent[] {
  const { blocks } = entry;
  if (fate === 'goes') return [];
  if (fate === 'part') return blocks.length < 2 ? [entry] : [{ ...entry, blocks: blocks.slice(1) }];
  if (fate === 'summary') return [humanText('What was before.'), entry];
  if (fate !== 'edited') return [entry];
  const edited = blocks.map((block) =>
    block.type === 'tool_response' ? { ...block, result: 'shorter' } : block,
  );
  return [{ ...entry, blocks: edited }];
}

describe('MessageView', () => {
  const messages = [
    system('be brief'),
    user('go'),
    assistant('I read', call('a', 'read_file'), call('b', 'read_file')),
    answer('a', 'read_file', 'long'),
    answer('b', 'read_file', 'longer'),
    assistant('done'),
  ];

  it('knows who speaks: the tools, where words stand beside results', () => {
    const view = new MessageView<AnthropicMessage>(MESSAGE_PARAM_FORMAT);
    const used = { type: 'tool_use', id: 'a', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
    readInto(view, [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [used] },
      { role: 'user', content: [result, { type: 'text', text: 'Mind b.ts.' }] },
      { role: 'system', content: 'pinned' },
    ] as never);
    const [{ places }] = view.knownLists;
    expect(places.map(({ speaker }) => speaker)).toEqual(['human', 'ai', 'tool', undefined]);
  });

  it('follows the first edit after a read like any other', () => {
    const part = fc.oneof(
      fc.constant({ type: 'text', text: 'said' } as const),
      fc
        .nat(20)
        .map((id) => ({ type: 'tool_result', tool_use_id: `c${id}`, content: 'x' }) as const),
    );
    const sent = fc.oneof(
      fc.constant({ role: 'system', content: 'pinned' }),
      fc.nat(20).map((id) => ({
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: `c${id}`, name: 'look', input: {} },
        ],
      })),
      fc.array(part, { maxLength: 4 }).map((content) => ({ role: 'user', content })),
    );
    const become = fc.constantFrom('stays', 'stays', 'stays', 'goes', 'part', 'edited', 'summary');
    fc.assert(
      fc.property(
        fc.array(sent, { maxLength: 40 }),
        fc.array(become, { minLength: 1, maxLength: 30 }),
        fc.nat(40),
        (messages, fates, turned) => {
          const views = [0, 1].map(() => new MessageView<object>(MESSAGE_PARAM_FORMAT as never));
          const standing = views.map((view, which) => {
            const entries = readInto(view, messages as never);
            const history = entries.flatMap((entry, at) =>
              fateOf(entry, fates[at % fates.length]!),
            );
            // A replaced history may also be in another order.
            if (turned < history.length && turned % 3 === 0)
              history.push(...history.splice(turned, 2));
            if (which === 1) view.applyChanges([]);
            runSlices(view.followInSlices(history));
            return [...view.current];
          });
          expect(standing[0]).toEqual(standing[1]);
        },
      ),
      { numRuns: runs(4_000) },
    );
  });

  it('returns the messages themselves as long as nothing is edited', () => {
    const { view } = new ViewedHistory(messages);
    expect(view.current).toHaveLength(messages.length);
    view.current.forEach((message, at) => expect(message).toBe(messages[at]));
    expect(view.pinnedTokens).toBe(10);
  });

  it('adds no messages before a read is committed', () => {
    const view = new MessageView(PLAIN_MESSAGE_FORMAT);
    runSlices(view.readInSlices(messages));
    expect(view.given).toEqual([]);
    expect(view.current).toEqual([]);
  });

  it('writes an edited part and shares its siblings and all other messages', () => {
    const viewed = new ViewedHistory(messages);
    const [response] = blocksOf(viewed, 2);
    viewed.edit(new Map([[2, [{ ...response!, result: 'short' } as ContentBlock]]]));
    const [first, second, third, fourth, fifth, sixth] = viewed.view.current;
    expect(fourth).toEqual(answer('a', 'read_file', 'short'));
    expect([first, second, third, fifth, sixth]).toEqual(messages.filter((_, at) => at !== 3));
    expect(third).toBe(messages[2]);
    expect(messages[3]).toEqual(answer('a', 'read_file', 'long'));
  });

  it('drops a message when none of its parts is left', () => {
    const viewed = new ViewedHistory(messages);
    viewed.edit(
      new Map<number, readonly ContentBlock[] | null>([
        [1, blocksOf(viewed, 1).filter((_, at) => at !== 1)],
        [2, null],
      ]),
    );
    expect(viewed.view.current).toEqual([
      messages[0],
      messages[1],
      assistant('I read', call('b', 'read_file')),
      messages[4],
      messages[5],
    ]);
    expect(viewed.view.current[2]?.parts[1]).toBe(messages[2]?.parts[2]);
  });

  it('drops the parts that belong to a dropped call, wherever they are', () => {
    const viewed = new ViewedHistory([
      user('go'),
      assistant(call('a', 'run'), { unknown: 'approval-request', of: 'a' }, 'please'),
      { role: 'tool', parts: [{ unknown: 'approval', of: 'a' }] },
      answer('a', 'run', 'x'),
    ]);
    const [, , text] = blocksOf(viewed, 1);
    viewed.edit(
      new Map<number, readonly ContentBlock[] | null>([
        [1, [text!]],
        [3, null],
      ]),
    );
    expect(viewed.view.current).toEqual([user('go'), assistant('please')]);
  });

  it('keeps a part that belongs to an unknown call', () => {
    const viewed = new ViewedHistory([
      user('go'),
      assistant('well', { unknown: 'x', of: 'elsewhere' }),
    ]);
    viewed.edit(new Map([[0, [{ ...blocksOf(viewed, 0)[0]!, text: 'gone' } as ContentBlock]]]));
    expect(viewed.view.current[1]?.parts).toHaveLength(2);
  });

  it('inserts a written message at its entry, behind the pinned messages in front of it', () => {
    const viewed = new ViewedHistory([...messages, user('more'), assistant('more done')]);
    const note = humanText('what happened so far');
    viewed.follow([note, ...viewed.history.slice(-2)]);
    expect(viewed.view.current).toEqual([
      messages[0],
      user('what happened so far'),
      user('more'),
      assistant('more done'),
    ]);
    const written = viewed.view.current[1];
    viewed.give([user('and on')]);
    viewed.follow(viewed.history);
    expect(viewed.view.current[1]).toBe(written);
    expect(viewed.view.current.at(-1)).toEqual(user('and on'));
  });

  it('drops a written message with its entry', () => {
    const viewed = new ViewedHistory(messages);
    viewed.follow([humanText('note'), ...viewed.history.slice(-1)]);
    viewed.edit(new Map([[0, null]]));
    expect(viewed.view.current).toEqual([messages[0], messages[5]]);
  });

  it('keeps pinned messages in place, whatever is removed around them', () => {
    const viewed = new ViewedHistory([user('a'), system('x'), user('b'), system('y'), user('c')]);
    viewed.follow(viewed.history.slice(2));
    expect(viewed.view.current).toEqual([system('x'), system('y'), user('c')]);
  });

  it('only rewrites a message that an edit changes', () => {
    const rewrite = vi.spyOn(PLAIN_MESSAGE_FORMAT, 'rewrite');
    const viewed = new ViewedHistory(messages);
    viewed.edit(new Map([[1, blocksOf(viewed, 1).slice(0, 2)]]));
    const [, , edited] = viewed.view.current;
    viewed.edit(new Map([[4, null]]));
    viewed.follow(viewed.history);
    expect(rewrite).toHaveBeenCalledTimes(1);
    expect(viewed.view.current[2]).toBe(edited);
    rewrite.mockRestore();
  });

  it('returns the same by changes, by the whole history, and by a naive walk', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryMessage, { minLength: 1, maxLength: 12 }),
        fc.array(fc.array(fc.nat(5), { minLength: 7, maxLength: 40 }), { maxLength: 4 }),
        (given, rounds) => {
          const byChanges = new ViewedHistory(given);
          const byHistory = new ViewedHistory(given);
          for (const choices of rounds) {
            byChanges.edit(randomEdits(byChanges.history, choices));
            const edits = randomEdits(byHistory.history, choices);
            byHistory.follow(edited(byHistory.history, edits).filter((entry) => entry !== null));
            const expected = plainWalk(given, byChanges.history);
            expect(byChanges.view.current).toEqual(expected);
            expect(byHistory.view.current).toEqual(expected);
            for (const [at, message] of expected.entries()) {
              if (given.includes(message)) expect(byChanges.view.current[at]).toBe(message);
            }
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

const arbitraryPart: fc.Arbitrary<PlainPart> = fc.oneof(
  fc.record({ text: fc.string({ minLength: 1, maxLength: 3 }) }),
  fc.record({ thought: fc.constantFrom('hm', 'so') }),
  fc.record({ call: fc.constantFrom('a', 'b', 'c'), name: fc.constant('run'), input: fc.nat(3) }),
  fc.record({
    answers: fc.constantFrom('a', 'b', 'c'),
    name: fc.constant('run'),
    output: fc.string({ maxLength: 3 }),
  }),
  fc.record({ unknown: fc.constant('x') }),
  fc.record({ unknown: fc.constant('approval'), of: fc.constantFrom('a', 'b', 'c') }),
);

const arbitraryMessage: fc.Arbitrary<PlainMessage> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(system('rule')) },
  {
    weight: 8,
    arbitrary: fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool'),
      parts: fc.array(arbitraryPart, { minLength: 1, maxLength: 4 }),
    }),
  },
);

/** The entries of a history after edits; `null` for removed ones. */
function edited(history: readonly IContent[], edits: Edits): readonly (IContent | null)[] {
  return history.map((entry, index) => {
    const blocks = edits.get(index);
    return blocks === undefined ? entry : blocks && { ...entry, blocks };
  });
}

/** Drops and shortens blocks, chosen by the numbers. */
function randomEdits(history: readonly IContent[], choices: readonly number[]): Edits {
  let next = 0;
  const choose = (): number => choices[next++ % choices.length]!;
  const edits = new Map<number, readonly ContentBlock[] | null>();
  for (const [index, { blocks }] of history.entries()) {
    if (choose() % 3 > 0) continue;
    const left = blocks.flatMap((block): readonly ContentBlock[] => {
      if (choose() % 2 === 0) return [];
      if (block.type === 'text') return [{ ...block, text: `${block.text}!` }];
      return block.type === 'tool_response' ? [{ ...block, result: 'pruned' }] : [block];
    });
    edits.set(index, left.length === 0 ? null : left);
  }
  return edits;
}

/** The expected messages by definition, part by part. */
function plainWalk(
  given: readonly PlainMessage[],
  history: readonly IContent[],
): readonly PlainMessage[] {
  const left = new Map<string, ContentBlock>();
  for (const { blocks } of history) {
    for (const block of blocks) left.set((block as PlacedBlock).origin.join(), block);
  }
  const callsOf = (blocks: Iterable<ContentBlock>): readonly string[] =>
    [...blocks].flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
  const standing = callsOf(left.values());
  const { history: whole } = new ViewedHistory(given);
  const seen = callsOf(whole.flatMap(({ blocks }) => blocks));
  return given.flatMap((message, index): PlainMessage | [] => {
    if (message.role === 'system') return message;
    const now = message.parts.map((part, at): PlainPart | null => {
      const block = left.get(`${index},${at}`);
      if (block === undefined) return null;
      // By the block's id: that of a repeated call is made unique.
      if (block.type === 'opaque' && block.callId !== undefined) {
        return seen.includes(block.callId) && !standing.includes(block.callId) ? null : part;
      }
      if (block.type === 'text' && 'text' in part) {
        return block.text === part.text ? part : { ...part, text: block.text };
      }
      if (block.type === 'tool_response' && 'answers' in part) {
        return block.result === part.output ? part : { ...part, output: String(block.result) };
      }
      return part;
    });
    // Reasoning goes with all that follows it, up to the next reasoning. Blank texts do not count.
    const counted = message.parts
      .map((part, at) => ({ isThought: 'thought' in part, isGone: now[at] === null, part, at }))
      .filter(({ part }) => !('text' in part) || part.text.trim() !== '');
    for (const { at, isThought } of counted) {
      const behind = counted.slice(counted.findIndex((each) => each.at === at) + 1);
      const start = behind.findIndex((each) => !each.isThought);
      const end = behind.findIndex((each, place) => place > start && each.isThought);
      const ledTo = start === -1 ? [] : behind.slice(start, end === -1 ? undefined : end);
      if (isThought && ledTo.length > 0 && ledTo.every(({ isGone }) => isGone)) now[at] = null;
    }
    const parts = now.filter((part) => part !== null);
    if (parts.length === 0) return [];
    const isUntouched = message.parts.every((part, at) => part === parts[at]);
    return isUntouched ? message : { ...message, parts };
  });
}

it('does not restore a moved mark when a caller continues from the returned messages', () => {
  const view = new MessageView(MESSAGE_PARAM_FORMAT);
  const use = { type: 'tool_use', id: 't1', name: 'read_file', input: {} } as const;
  const result = (content: string) =>
    ({ type: 'tool_result', tool_use_id: 't1', content }) as const;
  const given: readonly AnthropicMessage[] = [
    { role: 'user', content: 'Read it.' },
    { role: 'assistant', content: [use] },
    { role: 'user', content: [{ ...result('long'), cache_control: { type: 'ephemeral' } }] },
  ];
  const entries = readInto(view, given);
  const [before] = entries.slice(-1);
  const [block] = before!.blocks;
  const short = { ...before!, blocks: [{ ...block!, result: 'short' } as ContentBlock] };
  view.applyChanges([{ index: 2, before: before!, after: short }]);
  expect(JSON.stringify(view.current)).toContain('cache_control');

  const moved: readonly AnthropicMessage[] = [
    ...given.slice(0, 2),
    { role: 'user', content: [result('short')] },
  ];
  view.adopt(view.knownLists[1], moved, [2]);
  view.followCacheMarks();
  view.applyChanges([{ index: 2, before: short, after: before! }]);
  expect(view.current).toEqual([...given.slice(0, 2), { role: 'user', content: [result('long')] }]);
});
