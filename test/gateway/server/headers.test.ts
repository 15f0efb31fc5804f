import { describe, expect, it } from 'vitest';
import { endToEnd, reasonPhraseOf, writeHead } from '../../../src/gateway/server/headers.js';

describe('endToEnd', () => {
  it('removes hop-by-hop headers and those named by `Connection`, and keeps the others unchanged', () => {
    const headers = ['X-B', '1', 'connection', 'X-Own, close', 'x-own', '2', 'TE', 'trailers'];
    expect(endToEnd([...headers, 'x-b', '3', 'X-Drop', '4'], ['x-drop'])).toEqual([
      'X-B',
      '1',
      'x-b',
      '3',
    ]);
  });
});

describe('writeHead', () => {
  it('writes each character as the byte that it was read from', () => {
    const head = writeHead('HTTP/1.1 200 OK', ['X-Name', 'caf\xe9']);
    expect(head).toEqual(Buffer.from('HTTP/1.1 200 OK\r\nX-Name: caf\xe9\r\n\r\n', 'latin1'));
  });
});

describe('reasonPhraseOf', () => {
  it.each([
    ['Very Good', 'Very Good'],
    ['not\x01so', ''],
    [undefined, ''],
  ])('turns %j into %j', (statusMessage, reason) => {
    expect(reasonPhraseOf(statusMessage === undefined ? {} : { statusMessage })).toBe(reason);
  });
});
