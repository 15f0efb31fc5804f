// The page as text; browser.test.ts tests it in a browser.

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import { aiContent, humanText, modelPrice } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';
import { documentOf, folderDocumentOf, longSession, step } from '../../support/report-documents.js';
import { sample } from '../../support/scale.js';

const HOSTILE = `</script><img src=x onerror="alert(1)"> ' \u202Eevil ${'w'.repeat(5_000)}`;

const HOSTILE_SESSION = [
  humanText(HOSTILE),
  ...step(`id ${HOSTILE}`, `tool ${HOSTILE}`, { command: HOSTILE }, HOSTILE),
  ...step('r', 'Read', { file_path: `/w/${HOSTILE}` }, HOSTILE),
  ...step('w', 'Edit', { file_path: `/w/${HOSTILE}` }, HOSTILE),
  aiContent(HOSTILE),
];

describe('renderPage', () => {
  test.each(sample([true, false], 0))(
    'keeps 500 turns under 300 kB, redacted: %s',
    async (isRedacted) => {
      const page = await documentOf(longSession(500), {
        isRedacted,
        contextLimit: 60_000,
        recency: 2,
      });
      expect(Buffer.byteLength(page)).toBeLessThan(300_000);
      expect(page.match(/<tr[ >]/g)!.length).toBeGreaterThan(200);
    },
  );

  test('keeps 100 turns under 150 kB', async () => {
    const page = await documentOf(longSession(100), { recency: 2 });
    expect(Buffer.byteLength(page)).toBeLessThan(150_000);
  });

  test('puts a given context limit into the settings, and otherwise leaves it to the model', async () => {
    const of = async (contextLimit?: number) => {
      const page = await documentOf(longSession(3), { ...(contextLimit && { contextLimit }) });
      return /<pre id="snippet"[^>]*>([^<]*)/.exec(page)?.[1];
    };
    expect(await of(60_000)).toContain('contextLimit: 60000\n');
    expect(await of()).toContain('createCompactor();');
  });

  test('shows no content and no path when redacted', async () => {
    const workingSet = {
      ...DEFAULT_WORKING_SET,
      outputCalls: 1,
      paybackCalls: Infinity,
      freeTokens: 0,
    };
    const page = await documentOf(longSession(30), { recency: 2, workingSet });
    expect(page).not.toContain('secret');
    expect(page).toContain('<span class="badge">Session content is hidden</span>');
    expect(page).toContain('by rule: superseded read');
    expect(page).toContain('by rule: unused result');
    expect(page).toContain('<b><bdi>Read</bdi></b> <bdi>#');
    expect(page).toMatch(/<bdi>#[0-9a-f]{6}\.ts<\/bdi>/);
    expect(page).toContain('<code><bdi>toolu_01');
  });

  test('shows the start of removed content if allowed', async () => {
    const page = await documentOf(longSession(30), { isRedacted: false, recency: 2 });
    expect(page).toContain('<summary>original</summary>');
    expect(page).toContain('secret line');
    expect(page).toContain('secret-part-');
  });

  test("counts the tools since the agent's own compaction, before and after edits", async () => {
    const steps = (name: string) =>
      step(name, 'Ask', { question: name }, `answer ${name} `.repeat(99));
    const summary = humanText('so far');
    const entries = [humanText('go'), ...steps('a'), ...steps('b'), summary, ...steps('c')];
    const rowOf = (page: string) =>
      /<th scope="row"><bdi>Ask<\/bdi><\/th>(.*?)<\/tr>/s.exec(page)?.[1];

    const page = await documentOf(entries, { contextStarts: [5] });

    const cells = [...(rowOf(page) ?? '').matchAll(/>([^<>]+)<\/td>/g)].map(([, cell]) => cell);
    expect(cells[0]).toBe('1');
    expect(cells[1]).toBe(cells[2]);
    expect(page).toContain('Since the agent last compacted its history by itself.');
    expect(await documentOf(entries)).not.toContain('last compacted');
  });

  test('shows a reason once, and its cause in each row', async () => {
    const page = await documentOf(longSession(30), { recency: 2 });
    expect(page.match(/The file is no longer what the model read\./g)).toHaveLength(1);
    expect(page.match(/then <bdi>Write<\/bdi>/g)!.length).toBeGreaterThan(3);
  });

  test('describes shrunk results as a group, without the size of one of them', async () => {
    const output = 'a line that repeats\n'.repeat(200);
    const entries = [
      humanText('go'),
      ...step('b', 'Bash', { command: 'make' }, output),
      aiContent('.'),
    ];
    const page = await documentOf(entries, { session: { edits: 'every-turn' } });
    expect(page).toContain('<b>Results shortened before they were first sent</b>');
    expect(page).toContain('<title>first sent with call 2, shortened before that</title>');
    expect(page).not.toContain('characters.');
  });

  test('has one figure in dollars, and names the model of the prices', async () => {
    const price = modelPrice('claude-sonnet-5')!;
    const priced = await documentOf(longSession(15), { recency: 2, price });
    expect(priced).toMatch(
      /Input costs <b>\$[\d.]+<\/b> with ctxfold, <b class="before">\$[\d.]+<\/b> without/,
    );
    expect(priced).toContain('tokens (2026-11-22): claude-sonnet-5 ');
    const unpriced = await documentOf(longSession(15), { recency: 2 });
    expect(unpriced).toContain('Assumed per million tokens (2026-11-22): claude-sonnet-4-6 ');
    expect(unpriced).toContain('; --price sets another.');
  });

  test('escapes all content of a hostile session', async () => {
    const page = await documentOf(HOSTILE_SESSION, { isRedacted: false, recency: 1 });
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(page.match(/<script/g)).toHaveLength(2);
  });

  test('loads nothing from elsewhere, and its CSP allows only its own script and style', async () => {
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

  test('an empty session has a page, and so has a folder of one', async () => {
    expect(await documentOf([])).toContain('The transcript has no entries');
    expect(await folderDocumentOf([[]])).toContain('1 session · 0 model calls');
  });
});

describe('renderFolderPage', () => {
  const at = (day: number, entries: readonly IContent[]): IContent[] =>
    entries.map((entry) => ({ ...entry, metadata: { timestamp: Date.UTC(2026, 0, day, 12) } }));
  const sessions = [at(30, longSession(10)), at(31, longSession(20)), at(31, longSession(15))];

  test('has the totals of each day, and each session', async () => {
    const page = await folderDocumentOf(sessions, { recency: 2 });
    expect(page).toContain('3 sessions · 45 model calls · 1 other file left out');
    expect(page.match(/<th scope="row">2026-01-3\d<\/th>/g)).toHaveLength(2);
    const [, ofDay = ''] = /2026-01-31<\/th>(.*?)<\/tr>/s.exec(page) ?? [];
    const cells = Array.from(ofDay.matchAll(/<td class="number">([^<]*)/g), ([, text]) => text);
    expect(cells.slice(0, 2)).toEqual(['2', '35']);
    expect(page.match(/<details class="group session"/g)).toHaveLength(3);
  });

  test('shows no content and no path when redacted', async () => {
    expect(await folderDocumentOf(sessions)).not.toContain('secret');
    // Checked from the folder's name on, which is the title.
    expect(await folderDocumentOf(sessions, { isRedacted: false })).toContain(
      '<b><bdi>session.jsonl</bdi></b>',
    );
  });
});
