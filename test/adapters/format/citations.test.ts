import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageCompactor } from '../../../src/adapters/anthropic/message-compactor.js';
import { MESSAGE_PARAM_FORMAT } from '../../../src/adapters/anthropic/message-param-format.js';
import { baseMessageFormat } from '../../../src/adapters/langchain/base-message-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import { countCited, withoutCitations } from '../../../src/adapters/format/citations.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { providerEntry } from '../../../src/main/strategies/provider-compaction.js';
import type { IContent } from '../../../src/shared/content.js';
import { runSlices } from '../../../src/shared/slices.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { runs } from '../../support/scale.js';
import { readInto } from '../../support/read-all.js';

const documentOf = (title: string): object => ({
  type: 'document',
  title,
  citations: { enabled: true },
  source: { type: 'text', media_type: 'text/plain', data: `${title} says much. `.repeat(60) },
});
const searchOf = (title: string): object => ({
  type: 'search_result',
  title,
  source: `https://example.org/${title}`,
  content: [{ type: 'text', text: `Found in ${title}. `.repeat(60) }],
});

interface Cited {
  readonly document_index?: number;
  readonly search_result_index?: number;
  readonly title: string;
}

const ofDocument = (number: number, title: string): object => ({
  type: 'char_location',
  document_index: number,
  title,
  cited_text: 'much',
});
const ofSearch = (number: number, title: string): object => ({
  type: 'search_result_location',
  search_result_index: number,
  title,
});
const OF_WEB = { type: 'web_search_result_location', encrypted_index: 'abc', url: 'https://x.org' };

const text = (words: string, ...citations: object[]): object => ({
  type: 'text',
  text: words,
  ...(citations.length > 0 && { citations }),
});
const user = (...content: object[]): MessageParam => ({ role: 'user', content }) as MessageParam;
const assistant = (...content: object[]): MessageParam =>
  ({ role: 'assistant', content }) as MessageParam;

/** The titles of citable parts in a request, in order. */
function titlesIn(messages: readonly unknown[], type: string): readonly string[] {
  return messages.flatMap((message) => {
    const { type: kind, title, content } = message as { [key: string]: unknown };
    if (kind === type) return [title as string];
    return Array.isArray(content) ? titlesIn(content, type) : [];
  });
}

/** The citations of a request whose index belongs to a part with another title. */
function wrongCitations(messages: readonly MessageParam[]): readonly Cited[] {
  const [documents, results] = [
    titlesIn(messages, 'document'),
    titlesIn(messages, 'search_result'),
  ];
  const cited = messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part) => (part as { citations?: Cited[] }).citations ?? []),
  );
  return cited.filter(
    ({ document_index: document, search_result_index: result, title }) =>
      (document !== undefined && documents[document] !== title) ||
      (result !== undefined && results[result] !== title),
  );
}

describe('withoutCitations', () => {
  it('removes citations by index, and nothing else', () => {
    const plain = { type: 'text', text: 'So.' };
    const content = deepFreeze([
      plain,
      text('It says much.', ofDocument(0, 'a'), OF_WEB, ofSearch(2, 'b')),
      text('And more.', ofDocument(1, 'b')),
    ]);

    const now = withoutCitations(content);

    expect(now).toEqual([plain, text('It says much.', OF_WEB), text('And more.')]);
    expect(now[0]).toBe(plain);
  });

  it('returns the same value if there are none', () => {
    for (const content of ['words', [text('It says.', OF_WEB)], [documentOf('a')], null, [null]])
      expect(withoutCitations<unknown>(content)).toBe(content);
  });
});

describe('countCited', () => {
  it('counts documents and search results, also in results of tools', () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: [searchOf('x'), text('y')] };

    const fetched = { type: 'web_fetch_result', url: 'u', content: documentOf('c') };
    const server = { type: 'web_fetch_tool_result', tool_use_id: 's', content: fetched };

    expect(countCited([documentOf('a'), result, text('z'), documentOf('b'), server])).toBe(4);
    expect(countCited('words')).toBe(0);
  });
});

describe('MessageView', () => {
  const given = [
    user(documentOf('a'), text('What does a say?')),
    assistant(text('Much.', ofDocument(0, 'a'), OF_WEB)),
    user(documentOf('b'), text('And b?')),
    assistant(text('More.', ofDocument(1, 'b'))),
  ];

  function viewOf(messages: readonly MessageParam[]): {
    view: MessageView<MessageParam>;
    history: readonly IContent[];
  } {
    const view: MessageView<MessageParam> = new MessageView<never>(MESSAGE_PARAM_FORMAT as never);
    const entries = readInto(view, messages);
    return { view, history: entries };
  }

  it('removes the citations behind a removed document, also in later answers', () => {
    const { view, history } = viewOf(given);
    runSlices(view.followInSlices(history.slice(0, 2).concat(history.slice(3))));
    const [, before, behind] = view.current;
    expect(before).toBe(given[1]);
    expect(behind).toEqual(assistant(text('More.')));

    const asked = user(text('What else?'));
    const later = assistant(text('Nothing else.', ofDocument(0, 'a')));
    readInto(view, [asked, later]);
    expect(view.current.at(-1)).toEqual(assistant(text('Nothing else.')));
    expect(view.current.at(-2)).toBe(asked);

    // A caller that rebuilds its messages gets its own objects, without citations.
    const copies = structuredClone([...given, asked, later]);
    const sent = view.currentAs(view.knownLists[0], copies);
    const answers = ['More.', 'Nothing else.'].map((words) => assistant(text(words)));
    expect(sent.slice(2)).toEqual([answers[0], asked, answers[1]]);
  });

  it('removes citations behind search results that an edit replaced', () => {
    const use = { type: 'tool_use', id: 'u', name: 'search', input: {} };
    const found = { type: 'tool_result', tool_use_id: 'u', content: [searchOf('x')] };
    const messages = [
      user(text('Search.')),
      assistant(use),
      user(found),
      assistant(text('It is in x.', ofSearch(0, 'x'))),
    ];
    const { view, history } = viewOf(messages);
    const before = history[2]!;
    const blocks = before.blocks.map((block) =>
      block.type === 'tool_response' ? { ...block, result: 'Gone.' } : block,
    );

    view.applyChanges([{ index: 2, before, after: { ...before, blocks } }]);

    expect(view.current.slice(2)).toEqual([
      user({ ...found, content: [text('Gone.')] }),
      assistant(text('It is in x.')),
    ]);
  });

  it('keeps citations behind a compaction by the provider', () => {
    const { view, history } = viewOf(given);
    const block = { type: 'compaction', content: 'a says much.', encrypted_content: 'x' };
    const item = providerEntry({ kind: 'compaction', data: block, tokens: 5 });

    runSlices(view.followInSlices([item, ...history.slice(1)]));

    expect(view.current).toEqual([assistant(block), ...given.slice(1)]);
  });

  it('removes citations from messages of LangChain', () => {
    const messages = [
      new HumanMessage({ content: [documentOf('a'), text('What?')] as never }),
      new AIMessage({ content: [text('Much.', ofDocument(0, 'a'))] as never }),
    ];
    const view = new MessageView(baseMessageFormat);
    const entries = readInto(view, messages);

    runSlices(view.followInSlices(entries.slice(1)));

    expect(view.current[0]).toBeInstanceOf(AIMessage);
    expect(view.current.map(({ content }) => content)).toEqual([[text('Much.')]]);
  });
});

describe('messageCompactor', () => {
  it('sends no citation with the index of another document, also after a restart', async () => {
    const turn = fc.record({
      asks: fc.array(fc.constantFrom('document', 'search_result', 'words'), { maxLength: 3 }),
      cites: fc.array(fc.record({ ofSearch: fc.boolean(), which: fc.nat(9) }), { maxLength: 3 }),
    });
    let removed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 4, maxLength: 14 }),
        fc.nat(13),
        async (turns, restart) => {
          const store = memoryStore();
          const open = (): Compactor =>
            createCompactor({
              offload: 'inline',
              contextLimit: 4_000,
              store,
              settings: { 'compression.strategy': 'top-down-truncation', 'compression.ahead': 1 },
            });
          let compactor = open();
          let compact = messageCompactor(compactor, { onError: 'throw' });
          const messages: MessageParam[] = [];
          for (const [at, { asks, cites }] of turns.entries()) {
            const titles = asks.map((kind, which) => [kind, `${at}-${which}`] as const);
            messages.push(
              user(
                text(`Question ${at}. ${'Look closely. '.repeat(30)}`),
                ...titles.map(([kind, title]) =>
                  kind === 'document'
                    ? documentOf(title)
                    : kind === 'words'
                      ? text(title)
                      : searchOf(title),
                ),
              ),
            );
            if (at === restart) {
              await compactor.close();
              compactor = open();
              compact = messageCompactor(compactor, { onError: 'throw' });
            }
            const sent = await compact([...messages], { conversationId: 'c' });
            expect(wrongCitations(sent)).toEqual([]);
            if (sent.length < messages.length) removed += 1;
            const cited = cites.flatMap(({ ofSearch: isSearch, which }) => {
              const all = titlesIn(sent, isSearch ? 'search_result' : 'document');
              const title = all[which];
              if (title === undefined) return [];
              return [isSearch ? ofSearch(which, title) : ofDocument(which, title)];
            });
            messages.push(assistant(text(`Answer ${at}.`, ...cited)));
          }
          await compactor.close();
        },
      ),
      { numRuns: runs(60) },
    );
    expect(removed).toBeGreaterThan(0);
  });
});
