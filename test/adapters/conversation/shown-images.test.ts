import type { ChatMessage } from '../../../src/adapters/openai/chat-message-format.js';
import { describe, expect, it } from 'vitest';
import { Dependents } from '../../../src/adapters/conversation/dependents.js';
import { ShownImages } from '../../../src/adapters/conversation/shown-images.js';
import type { PlacedBlock, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import { chatCompactor } from '../../../src/adapters/openai/chat-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import { toolCall, toolResponse } from '../../../src/shared/content.js';
import { opaqueBlock } from '../../../src/adapters/format/blocks.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';

const PICTURE = 'data:image/png;base64,AAAA';

describe('ShownImages', () => {
  const answers = (message: number): PlacedEntry => ({
    speaker: 'tool',
    blocks: ['a', 'b'].map((id, at) => ({
      ...toolResponse(id, 'look', 'ok'),
      origin: [message, at],
    })),
  });
  const shown = (message: number, text: string, mimeType = 'image/*'): PlacedEntry => ({
    speaker: 'human',
    blocks: [
      { type: 'text', text, origin: [message, 0] },
      { type: 'media', mimeType, data: '', encoding: 'url', origin: [message, 1] },
    ],
  });
  const answer: PlacedEntry = { speaker: 'ai', blocks: [] };
  /** Binds an entry behind two others with the same text, each behind a result of the same tool. */
  function bindThird(before: PlacedEntry[], entry: PlacedEntry): PlacedEntry {
    const images = new ShownImages();
    const bind = (former: PlacedEntry[], given: PlacedEntry): PlacedEntry => {
      for (const each of [answer, ...former]) images.bind([], each);
      return images.bind(former, given);
    };
    for (const step of [1, 2]) {
      const first = shown(1, `After step ${step}:`);
      expect(bind([answers(0)], first)).toBe(first);
    }
    return bind(before, entry);
  }

  it('binds images with the text of earlier ones to the last result in front of them', () => {
    const [first, last] = answers(2).blocks as [PlacedBlock, PlacedBlock];
    const before: PlacedEntry[] = [
      { speaker: 'tool', blocks: [first, { ...last, mediaTokens: 7 } as PlacedBlock] },
    ];
    const [text, shownImage] = shown(3, 'After step 12:').blocks as [PlacedBlock, PlacedBlock];
    const another = { ...shownImage, origin: [3, 2] } as PlacedBlock;
    const { blocks } = bindThird(before, { speaker: 'human', blocks: [text, shownImage, another] });
    const image = { type: 'opaque', kind: 'image', tokens: 0, callId: 'b', isShown: true };
    expect(blocks).toEqual([text, { ...image, origin: [3, 1] }, { ...image, origin: [3, 2] }]);
    const mediaTokens = 7 + 2 * IMAGE_TOKENS;
    expect(before[0]?.blocks).toEqual([first, { ...last, mediaTokens }]);
  });

  it.each<[string, PlacedEntry[], PlacedEntry]>([
    ['with another text', [answers(2)], shown(3, 'Why is this button red?')],
    ['behind no result', [], shown(3, 'After step 2:')],
    ['behind a message that has no entry', [answers(2)], shown(4, 'After step 2:')],
    ['without text', [answers(2)], shown(3, ' ')],
    ['of another kind', [answers(2)], shown(3, 'After step 2:', 'application/pdf')],
  ])('leaves media %s', (_, before, entry) => {
    const former = [...before];
    expect(bindThird(before, entry)).toBe(entry);
    expect(before).toEqual(former);
  });

  it.each([
    ['a long text', 'Look at this. '.repeat(20)],
    ['no text', ''],
  ])('leaves images with %s, however often they come', (_, text) => {
    const images = new ShownImages();
    const entry = shown(1, text);
    for (let at = 0; at < 5; at += 1) expect(images.bind([answers(0)], entry)).toBe(entry);
  });

  it('leaves images of users who interrupt a tool now and then, with the same text each time', () => {
    const images = new ShownImages();
    const entry = shown(1, '[Image #1]');
    for (let at = 0; at < 6; at += 1) {
      for (const each of [answers(0), answer, answers(0)]) images.bind([], each);
      expect(images.bind([answers(0)], entry)).toBe(entry);
      images.bind([], answer);
    }
  });

  it.each([
    ['of one tool', ['look', 'drag', 'look', 'drag', 'look', 'drag'], [4, 5]],
    ['of any tool', ['look', 'drag', 'wait', 'look'], [2, 3]],
  ])('binds images behind the third result %s in a row, and then of all', (_, tools, bound) => {
    const images = new ShownImages();
    const answersOf = (tool: string): PlacedEntry => ({
      speaker: 'tool',
      blocks: [{ ...toolResponse('c', tool, 'ok'), origin: [0, 0] }],
    });
    const isBound = (tool: string): boolean => {
      // With two tools, a third one has no image in between.
      const others = tools.length === 6 ? [answer, answersOf('read')] : [];
      const former = answersOf(tool);
      for (const each of [...others, answer, former]) images.bind([], each);
      const entry = shown(1, 'The screen:');
      return images.bind([former], entry) !== entry;
    };
    expect([...tools.keys()].filter((at) => isBound(tools[at] ?? ''))).toEqual(bound);
  });
});

describe('Dependents', () => {
  const placedAt = <Block extends object>(block: Block) => ({ ...block, origin: [0, 0] as const });
  const call = placedAt(toolCall('a', 'look', {}));
  const image = placedAt({ ...opaqueBlock('image', 0, 'a'), isShown: true as const });
  const result = placedAt({ ...toolResponse('a', 'look', 'ok'), mediaTokens: 9 });
  function added(): Dependents<string> {
    const dependents = new Dependents<string>();
    for (const block of [call, result, image]) dependents.add(block, 'message');
    return dependents;
  }

  it('keeps images whose result is removed with its call, or stays beside a replaced one', () => {
    const removed = added();
    removed.change([call, result], []);
    expect(removed.isOrphan(image)).toBe(false);
    const kept = added();
    const other = placedAt(toolResponse('b', 'look', 'ok'));
    kept.change([result, other], [result, { ...other, result: 'gone' }]);
    expect(kept.isOrphan(image)).toBe(false);
    expect(kept.of(result)).toEqual(['message']);
  });

  it('removes images of a replaced result', () => {
    const dependents = added();
    dependents.change([result], [placedAt(toolResponse('a', 'look', 'gone'))]);
    expect(dependents.isOrphan(image)).toBe(true);
  });
});

describe('a session with screenshots behind results', () => {
  const MINE: ChatMessage = {
    role: 'user',
    content: [
      { type: 'text', text: 'It should look like this.' },
      { type: 'image_url', image_url: { url: `${PICTURE}MINE` } },
    ],
  };

  it('sends the newest of them, and those of the user', async () => {
    await using compactor = createCompactor({ offload: 'inline' });
    const compact = chatCompactor(compactor, { onError: 'throw' });
    const messages: ChatMessage[] = [{ role: 'user', content: 'Book the flight.' }];
    let sent: readonly ChatMessage[] = [];
    for (let at = 0; at < 40; at += 1) {
      const call = { name: 'click', arguments: JSON.stringify({ x: at }) };
      // Some servers use the same ids for each answer.
      const id = `call_0`;
      messages.push(
        { role: 'assistant', tool_calls: [{ id, type: 'function', function: call }] },
        { role: 'tool', tool_call_id: id, content: 'clicked' },
        at === 20
          ? MINE
          : {
              role: 'user',
              content: [
                { type: 'text', text: 'The screen:' },
                { type: 'image_url', image_url: { url: PICTURE } },
              ],
            },
      );
      sent = await compact(messages);
      expect(sent.at(-1)).toBe(messages.at(-1));
      expect(sent.filter(({ role }) => role === 'tool')).toHaveLength(at + 1);
    }
    const pictures = JSON.stringify(sent).split(`${PICTURE}"`).length - 1;
    expect(pictures).toBeLessThan(12);
    expect(sent).toContain(MINE);
    const captions = JSON.stringify(sent).split('The screen:').length - 1;
    expect(captions).toBe(39);
    await using other = createCompactor({ offload: 'inline' });
    expect(await chatCompactor(other, { onError: 'throw' })(messages)).toEqual(sent);
  });

  it('sends all images of a user who interrupts a tool with nothing but a picture', async () => {
    await using compactor = createCompactor({ offload: 'inline' });
    const compact = chatCompactor(compactor, { onError: 'throw' });
    const messages: ChatMessage[] = [{ role: 'user', content: 'Make the page look right.' }];
    let sent: readonly ChatMessage[] = [];
    for (let at = 0; at < 40; at += 1) {
      const id = `call_${at}`;
      const call = { name: 'bash', arguments: JSON.stringify({ command: `make page${at}` }) };
      messages.push(
        { role: 'assistant', tool_calls: [{ id, type: 'function', function: call }] },
        { role: 'tool', tool_call_id: id, content: `built ${at} of the pages\n`.repeat(50) },
      );
      if (at % 4 === 0) {
        const image = { type: 'image_url' as const, image_url: { url: PICTURE } };
        const text = { type: 'text' as const, text: `[Image #${at}]` };
        messages.push({ role: 'user', content: at % 8 === 0 ? [text, image] : [image] });
      }
      sent = await compact(messages);
    }
    expect(JSON.stringify(sent).split(PICTURE)).toHaveLength(11);
    expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(messages).length / 2);
  });
});
