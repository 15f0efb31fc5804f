import { describe, expect, it } from 'vitest';
import {
  cacheMarksOf,
  cacheTtlIn,
  cacheTtlOfMessages,
  isSameButForCacheMarks,
  withoutCacheMarks,
} from '../../../src/adapters/format/cache-marks.js';

const MARKS = [
  { cache_control: { type: 'ephemeral' } },
  { prompt_cache_breakpoint: {} },
  { promptCacheBreakpoint: {} },
  { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  { providerOptions: { bedrock: { cachePoint: { type: 'default' } } } },
];

describe('isSameButForCacheMarks', () => {
  it.each(MARKS)('ignores %j on a message and on its parts, and nothing else', (mark) => {
    const part = { type: 'text', text: 'a' };
    const message = { role: 'user', content: [part] };
    expect(isSameButForCacheMarks(message, { ...message, ...mark })).toBe(true);
    const marked = { role: 'user', content: [{ ...part, ...mark }] };
    expect(isSameButForCacheMarks(message, marked)).toBe(true);
    expect(isSameButForCacheMarks(message, { ...marked, name: 'Ada' })).toBe(false);
    const other = { role: 'user', content: [{ ...part, ...mark, text: 'b' }] };
    expect(isSameButForCacheMarks(message, other)).toBe(false);
  });

  it('treats a marked text part like content that is that text', () => {
    const texts = (...content: unknown[]): object => ({ role: 'user', content });
    const mark = { cache_control: { type: 'ephemeral' } };
    const message = { role: 'user', content: 'a' };
    const marked = texts({ type: 'text', text: 'a', ...mark });
    expect(isSameButForCacheMarks(message, marked)).toBe(true);
    expect(isSameButForCacheMarks(marked, message)).toBe(true);
    const others = [
      texts({ type: 'text', text: 'b', ...mark }),
      texts({ type: 'text', text: 'a', citations: [1] }),
      texts({ type: 'text', text: 'a' }, { type: 'text', text: 'a' }),
      { ...marked, role: 'assistant' },
      { role: 'user' },
      {
        role: 'user',
        get content(): never {
          throw new Error('no');
        },
      },
    ];
    for (const other of others) expect(isSameButForCacheMarks(message, other)).toBe(false);
  });

  it('compares the fields beside a mark', () => {
    const options = { anthropic: { signature: 's', cacheControl: { type: 'ephemeral' } } };
    const bare = { anthropic: { signature: 's' } };
    expect(isSameButForCacheMarks({ providerOptions: options }, { providerOptions: bare })).toBe(
      true,
    );
    const other = { anthropic: { signature: 't' } };
    expect(isSameButForCacheMarks({ providerOptions: options }, { providerOptions: other })).toBe(
      false,
    );
  });

  it('distinguishes an empty object from a missing one, and ignores marks nested deeper than options', () => {
    expect(isSameButForCacheMarks({ input: {} }, {})).toBe(false);
    const deep = { a: { b: { c: { d: { cacheControl: {} } } } } };
    expect(isSameButForCacheMarks(deep, {})).toBe(false);
  });
});

const [MINUTE, HOUR] = [60_000, 3_600_000];

function circular(): object {
  const options: Record<string, unknown> = {};
  options['openai'] = options;
  return options;
}

describe('cacheTtlIn', () => {
  it.each([
    [{ cache_control: { type: 'ephemeral' } }, 5 * MINUTE],
    [{ cache_control: { type: 'ephemeral', ttl: '1h' } }, HOUR],
    [{ providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } } }, HOUR],
    [{ providerOptions: { bedrock: { cachePoint: { type: 'default' } } } }, 5 * MINUTE],
    [{ providerOptions: { amazonBedrock: { cachePoint: { type: 'default', ttl: '1h' } } } }, HOUR],
    [{ providerOptions: { openrouter: { cacheControl: { type: 'ephemeral', ttl: '1h' } } } }, HOUR],
    [{ providerOptions: { azure: { promptCacheRetention: '24h' } } }, 24 * HOUR],
    [{ prompt_cache_options: { mode: 'implicit', ttl: '12h' } }, 12 * HOUR],
    [{ prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } }, 30 * MINUTE],
    [{ prompt_cache_retention: '24h' }, 24 * HOUR],
    [{ prompt_cache_retention: 'in_memory' }, 5 * MINUTE],
    [{ providerOptions: { openai: { promptCacheOptions: { ttl: '30m' } } } }, 30 * MINUTE],
    [{ providerData: { prompt_cache_retention: '24h' } }, 24 * HOUR],
  ])('of %j is %d ms', (holder, ttlMs) => {
    expect(cacheTtlIn(holder)).toBe(ttlMs);
  });

  it.each([
    undefined,
    'cache_control',
    { prompt_cache_breakpoint: { mode: 'explicit' } },
    { prompt_cache_retention: 'for ever' },
    { prompt_cache_options: { ttl: '99999999999h' } },
    { input: { cache_control: { ttl: '1h' } } },
    { cache_control: null },
    { cache_control: undefined },
    { cache: { ttl: '1h' } },
    circular(),
  ])('of %o is undefined', (holder) => {
    expect(cacheTtlIn(holder)).toBeUndefined();
  });
});

describe('cacheTtlOfMessages', () => {
  const part = (ttl?: string) => ({ type: 'text', text: 'a', cache_control: { ttl } });
  const message = (...content: object[]) => ({ role: 'user', content });

  it('is the longest of the marks on messages, on their parts, and beside them', () => {
    const marked = [message(part('1h')), { role: 'user', content: 'b' }, message(part())];
    expect(cacheTtlOfMessages(marked, undefined)).toBe(HOUR);
    expect(cacheTtlOfMessages(marked.slice(1), undefined)).toBe(5 * MINUTE);
    expect(cacheTtlOfMessages(marked.slice(1), HOUR)).toBe(HOUR);
    expect(cacheTtlOfMessages([null, 'b'], undefined)).toBeUndefined();
  });

  it('ignores values that cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const foreign: unknown = Object.setPrototypeOf([part('1h')], null);
    expect(cacheTtlOfMessages([{ content: foreign }], undefined)).toBe(HOUR);
    expect(cacheTtlOfMessages([{ content: proxy }, message(part())], undefined)).toBe(5 * MINUTE);
  });

  it('only reads the last messages, however many there are', () => {
    const rest = Array.from({ length: 100 }, () => message({ type: 'text', text: 'b' }));
    expect(cacheTtlOfMessages([message(part('1h')), ...rest], undefined)).toBeUndefined();
  });
});

describe('withoutCacheMarks', () => {
  it.each(MARKS)('removes %j from a message and its parts, and nothing else', (mark) => {
    const signed = { providerOptions: { anthropic: { signature: 's' } } };
    const call = { type: 'tool_use', input: { cache_control: 'a' } };
    const others = [call, 'b', null];
    const message = { role: 'user', ...signed, content: [{ type: 'text', text: 'a' }, ...others] };
    const content = [{ type: 'text', text: 'a', ...mark }, ...others];
    expect(withoutCacheMarks({ ...mark, ...message, content })).toEqual(message);
    expect(withoutCacheMarks({ ...message, content })).toEqual(message);
    const bare = { role: 'user', content: message.content };
    expect(withoutCacheMarks({ role: 'user', content })).toEqual(bare);
    for (const content of ['a', undefined])
      expect(withoutCacheMarks({ role: 'user', ...mark, content })).toEqual({
        role: 'user',
        content,
      });
    const both = { anthropic: { signature: 's', cacheControl: { type: 'ephemeral' } } };
    expect(withoutCacheMarks({ ...message, providerOptions: both })).toEqual(message);
  });

  it('returns the same object if there is no mark, or for an instance of a class', () => {
    const message = { role: 'user', providerOptions: undefined, content: [{ type: 'text' }] };
    expect(withoutCacheMarks(message)).toBe(message);
    class Message {
      readonly cache_control = {};
    }
    const made = new Message();
    expect(withoutCacheMarks(made)).toBe(made);
  });
});

describe('cacheMarksOf', () => {
  it('takes the last mark of each name', () => {
    const [mark, last] = ['5m', '1h'].map((ttl) => ({ cache_control: { ttl } }));
    const parts = [{ ...mark, text: 'a' }, { ...last }, { cache_control: undefined }, 'b', null];
    expect(cacheMarksOf(parts)).toEqual(last);
  });
});
