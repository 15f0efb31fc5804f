import type { ChatMessage } from '../../../src/adapters/openai/chat-message-format.js';
import { describe, expect, it } from 'vitest';
import { ShownImages } from '../../../src/adapters/conversation/shown-images.js';
import type { PlacedBlock, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import { chatCompactor } from '../../../src/adapters/openai/chat-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import { toolResponse } from '../../../src/shared/content.js';
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
  /** Binds an entry behind another one with the same caption. */
  function bindSecond(before: PlacedEntry[], entry: PlacedEntry): PlacedEntry {
    const images = new ShownImages();
    images.bind([answers(0)], shown(1, 'After step 1:'));
    return images.bind(before, entry);
  }

  it('binds images with the text of an earlier one to the last result in front of them', () => {
    const before = [answers(2)];
    const entry = shown(3, 'After step 12:');
    const { blocks } = bindSecond(before, entry);
    const image = { type: 'opaque', kind: 'image', tokens: 0, callId: 'b', isShown: true };
    expect(blocks).toEqual([entry.blocks[0], { ...image, origin: [3, 1] }]);
    const [first, last] = answers(2).blocks as [PlacedBlock, PlacedBlock];
    expect(before[0]?.blocks).toEqual([first, { ...last, mediaTokens: IMAGE_TOKENS }]);
  });

  it.each<[string, PlacedEntry[], PlacedEntry]>([
    ['with another text', [answers(2)], shown(3, 'Why is this button red?')],
    ['behind no result', [], shown(3, 'After step 2:')],
    ['behind a message that has no entry', [answers(2)], shown(4, 'After step 2:')],
    ['of another kind', [answers(2)], shown(3, 'After step 2:', 'application/pdf')],
  ])('leaves media %s', (_, before, entry) => {
    const former = [...before];
    expect(bindSecond(before, entry)).toBe(entry);
    expect(before).toEqual(former);
  });

  it('leaves images with a long text, however often it comes', () => {
    const images = new ShownImages();
    const entry = shown(1, 'Look at this. '.repeat(20));
    for (let at = 0; at < 3; at += 1) expect(images.bind([answers(0)], entry)).toBe(entry);
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

  it.each([
    ['with a caption', [{ type: 'text', text: 'The screen:' }] as const],
    ['alone', []],
  ])('sends the newest of them, and those of the user, %s', async (_, caption) => {
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
              content: [...caption, { type: 'image_url', image_url: { url: PICTURE } }],
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
    expect(captions).toBe(caption.length * 39);
    await using other = createCompactor({ offload: 'inline' });
    expect(await chatCompactor(other, { onError: 'throw' })(messages)).toEqual(sent);
  });
});
