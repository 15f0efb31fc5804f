// Escaping of transcript contents for a page.

import { describe, expect, test } from 'vitest';
import { escapeHtml, html, named, rawElement, scriptJson } from '../../../src/cli/report/html.js';

describe('html', () => {
  test('escapes texts and leaves markup as it is', () => {
    const inner = html`<b>${`"<i>' & more`}</b>`;
    expect(html`<p title="${'"'}">${inner}${[inner]}</p>`.text).toBe(
      `<p title="&quot;">${'<b>&quot;&lt;i&gt;&#39; &amp; more</b>'.repeat(2)}</p>`,
    );
  });

  test('removes the indentation of the source, but not a space between words', () => {
    expect(
      html`<table>
        <tr>
          <td>one two</td>
        </tr>
      </table>`.text,
    ).toBe('<table><tr><td>one two</td></tr></table>');
  });
});

describe('escapeHtml', () => {
  test('escapes everything that could end an element or an attribute', () => {
    expect(escapeHtml('</script><a b="c" d=\'e\'>&')).not.toMatch(/[<>"']/);
  });
});

describe('named', () => {
  test('keeps a name short, on one line, and without marks that reverse the text direction', () => {
    const { text } = named(`a\u202Eb\u2067\nc${'x'.repeat(500)}`, 10);
    expect(text).toBe('<bdi>a b cxxxx…</bdi>');
  });
});

describe('scriptJson', () => {
  test('contains nothing that ends the element, and parses to the same value', () => {
    const value = { a: '</script><!--', b: '\u2028&' };
    const text = scriptJson(value);
    expect(text).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe('rawElement', () => {
  test('does not escape the content between its tags', () => {
    expect(rawElement('script type="a"', '1 < 2').text).toBe('<script type="a">1 < 2</script>');
  });
});
