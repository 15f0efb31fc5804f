import { describe, expect, it } from 'vitest';
import { isSameButForCacheMarks } from '../../src/adapters/cache-marks.js';

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

  it('sees what stands beside a mark', () => {
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

  it('tells an empty object from none, and looks no deeper than options stand', () => {
    expect(isSameButForCacheMarks({ input: {} }, {})).toBe(false);
    const deep = { a: { b: { c: { d: { cacheControl: {} } } } } };
    expect(isSameButForCacheMarks(deep, {})).toBe(false);
  });
});
