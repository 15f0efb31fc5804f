// The page as text. That a browser shows it is tested in browser.test.ts.

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { aiContent, humanText } from '../../../../src/index.js';
import { documentOf, longSession, step } from '../../../support/report-documents.js';

const HOSTILE = `</script><img src=x onerror="alert(1)"> ' \u202Eevil ${'w'.repeat(5_000)}`;

const HOSTILE_SESSION = [
  humanText(HOSTILE),
  ...step(`id ${HOSTILE}`, `tool ${HOSTILE}`, { command: HOSTILE }, HOSTILE),
  ...step('r', 'Read', { file_path: `/w/${HOSTILE}` }, HOSTILE),
  ...step('w', 'Edit', { file_path: `/w/${HOSTILE}` }, HOSTILE),
  aiContent(HOSTILE),
];

describe('renderPage', () => {
  test.each([true, false])('keeps 500 turns under 300 kB, redacted: %s', async (isRedacted) => {
    const page = await documentOf(longSession(500), {
      isRedacted,
      contextLimit: 60_000,
      recencyRetention: 2,
    });
    expect(Buffer.byteLength(page)).toBeLessThan(300_000);
    expect(page.match(/<tr>/g)!.length).toBeGreaterThan(200);
  });

  test('shows no content and no path when redacted', async () => {
    const page = await documentOf(longSession(60), { recencyRetention: 2 });
    expect(page).not.toContain('secret');
    expect(page).toContain('<td>superseded read</td>');
    expect(page).toContain('<td>unused result</td>');
    expect(page).toContain('What was read was written later, last by the Write call toolu_01');
    expect(page).toMatch(/<bdi>Read<\/bdi> <bdi>#[0-9a-f]{6}\.ts<\/bdi>/);
    expect(page).toContain('<code><bdi>toolu_01');
  });

  test('shows the start of what was taken away when it may', async () => {
    const page = await documentOf(longSession(60), { isRedacted: false, recencyRetention: 2 });
    expect(page).toContain('<summary>original</summary>');
    expect(page).toContain('secret line');
    expect(page).toContain('secret-part-');
  });

  test('lets nothing of a hostile session out of its text', async () => {
    const page = await documentOf(HOSTILE_SESSION, { isRedacted: false, recencyRetention: 1 });
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(page.match(/<script/g)).toHaveLength(2);
  });

  test('asks for nothing from elsewhere, and its policy knows its script and its style', async () => {
    const page = await documentOf(longSession(5));
    const hash = (text: string): string =>
      `sha256-${createHash('sha256').update(text).digest('base64')}`;
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(page) ?? [];
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    expect(page).toContain(`script-src '${hash(script)}'; style-src '${hash(style)}'`);
    expect(page).not.toMatch(/(?:src|href)="(?!data:,)|url\(|@import/);
    expect(page.replace(script, '')).not.toMatch(/https?:/);
    expect(page).not.toContain(' style="');
  });

  test('an empty session has a page', async () => {
    expect(await documentOf([])).toContain('The transcript holds no entries');
  });
});
