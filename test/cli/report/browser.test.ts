// The page in a browser, if there is one: an installed Chromium, or the one that CHROMIUM_PATH names.

import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { humanText } from '../../../src/index.js';
import { CHROMIUM_MISSING, CHROMIUM_PATH } from '../../support/browser.js';
import { documentOf, folderDocumentOf, longSession, step } from '../../support/report-documents.js';
import { PLAYS_ALL, sample } from '../../support/scale.js';

const WORD = 'w'.repeat(3_000);
const HOSTILE = `</script><script>document.title = 'owned'</script><img src="http://h.invalid/x" onerror="document.title = 'owned'"> \u202E${WORD}`;
const HOSTILE_SESSION = [
  humanText(HOSTILE),
  ...step('r', HOSTILE, { command: HOSTILE }, HOSTILE),
  ...step('s', HOSTILE, { command: HOSTILE }, HOSTILE),
];

const PRICE = { name: '', input: 3, cacheRead: 0.3, cacheWrite: 3.75 };

// Code for the page is in strings: the tests are compiled without the types of a browser.

const GROUND = 'getComputedStyle(document.body).backgroundColor';
const SIZE = '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]';

describe.skipIf(CHROMIUM_PATH === undefined)(`the page in a browser${CHROMIUM_MISSING}`, () => {
  let browser: Browser;
  let folder: string;
  const pages = new Map<string, string>();

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'ctxfold-report-'));
    const documents = {
      long: await documentOf(longSession(PLAYS_ALL ? 500 : 150), {
        contextLimit: 60_000,
        recency: 2,
      }),
      hostile: await documentOf(HOSTILE_SESSION, { isRedacted: false, recency: 1 }),
      folder: await folderDocumentOf([longSession(30), longSession(60), HOSTILE_SESSION], {
        ...{ isRedacted: false, recency: 1, price: PRICE },
      }),
    };
    for (const [name, document] of Object.entries(documents)) {
      const file = path.join(folder, `${name}.html`);
      writeFileSync(file, document);
      pages.set(name, pathToFileURL(file).href);
    }
    browser = await chromium.launch({ executablePath: CHROMIUM_PATH!, args: ['--no-sandbox'] });
  });

  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  let shownUrl = '';
  /** One page with scripts and one without, used by all tests: a browser for each would take most of the time. */
  const views = new Map<boolean, { readonly page: Page; readonly noise: string[] }>();

  async function viewOf(javaScriptEnabled: boolean): Promise<{ page: Page; noise: string[] }> {
    const known = views.get(javaScriptEnabled);
    if (known !== undefined) return known;
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await browser.newContext({ javaScriptEnabled, permissions });
    const view = { page: await context.newPage(), noise: [] as string[] };
    const { page, noise } = view;
    page.on('console', (message) => noise.push(message.text()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('request', (request) => {
      if (request.url() !== shownUrl) noise.push(request.url());
    });
    views.set(javaScriptEnabled, view);
    return view;
  }

  /** Loads a page; its errors and requests are collected in `noise`. */
  async function open(
    name: string,
    {
      colorScheme = 'light',
      viewport = { width: 1280, height: 720 },
      javaScriptEnabled = true,
    }: Pick<BrowserContextOptions, 'colorScheme' | 'viewport' | 'javaScriptEnabled'> = {},
  ): Promise<{ readonly page: Page; readonly noise: readonly string[] }> {
    const { page, noise } = await viewOf(javaScriptEnabled);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport ?? { width: 1280, height: 720 });
    noise.length = 0;
    shownUrl = pages.get(name)!;
    await page.goto(shownUrl, { waitUntil: 'load' });
    return { page, noise };
  }

  const shown = [
    ['long', 'light'],
    ['hostile', 'light'],
    ['folder', 'light'],
    ['long', 'dark'],
    ['folder', 'dark'],
  ] as const;

  test.each(sample(shown, 3))(
    '%s, %s: logs no error, and sends no request',
    async (name, colorScheme) => {
      const { page, noise } = await open(name, { colorScheme });
      expect(await page.title()).toMatch(/^Context report: /);
      expect(noise.filter((text) => !text.startsWith('data:'))).toEqual([]);
    },
  );

  test('draws the layers of the chart in the colours of the legend, without a script', async () => {
    const { page } = await open('long', { javaScriptEnabled: false });
    const [drawn, named] = await page.evaluate<[string[], string[]]>(`[
      Array.from(document.querySelectorAll('#chart path[class^=c-]'), (path) => getComputedStyle(path).fill),
      Array.from(document.querySelectorAll('section:has(#chart) .swatch'), (swatch) => getComputedStyle(swatch).backgroundColor),
    ]`);
    expect(drawn.length).toBeGreaterThan(2);
    expect(drawn.toReversed()).toEqual(named);
    expect(await page.locator('#chart path.without').isVisible()).toBe(true);
  });

  test('is light when printed, also in the dark scheme', async () => {
    const { page } = await open('long', { colorScheme: 'light' });
    const light = await page.evaluate<string>(GROUND);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await page.evaluate<string>(GROUND)).not.toBe(light);
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
    expect(await page.evaluate<string>(GROUND)).toBe(light);
    await page.emulateMedia({ media: 'screen' });
  });

  test('announces the numbers of the turn that the arrow keys select', async () => {
    const { page } = await open('long');
    await page.focus('#chart');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const tip = page.locator('.tip');
    await tip.waitFor({ state: 'visible' });
    expect(await tip.innerText()).toMatch(/^model call 2\n/);
    const { x, y, width, height } = (await page.locator('#chart .plot').boundingBox())!;
    await page.mouse.move(x + width - 1, y + height / 2);
    expect(await tip.innerText()).toMatch(/^after the last call\n/);
    await page.mouse.move(0, 0);
    expect(await tip.isVisible()).toBe(false);
  });

  test('gives a category the same colour in the dark scheme', async () => {
    const { page } = await open('long', { colorScheme: 'light' });
    const colours = `[...document.querySelectorAll('.legend .swatch')]
      .filter((swatch) => /c-/.test(swatch.className))
      .map((swatch) => getComputedStyle(swatch).backgroundColor)`;
    const light = await page.evaluate<string[]>(colours);
    expect(new Set(light).size).toBeGreaterThan(2);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await page.evaluate<string[]>(colours)).toEqual(light);
  });

  test('filters edits by a search, and shows all again', async () => {
    const { page } = await open('long');
    const shown = page.locator('#edits [data-item]:visible');
    expect(await shown.count()).toBe(0);
    const search = page.getByRole('searchbox', { name: 'Show only edits' });
    await search.fill('grep nothing that is there');
    expect(await page.locator('#edits details:visible').count()).toBe(0);
    await search.fill('write file');
    const rows = await shown.allInnerTexts();
    expect(rows.length).toBeGreaterThan(0);
    expect(await page.locator('#edits output').innerText()).toMatch(
      new RegExp(`^${rows.length} of \\d+$`),
    );
    await search.fill('bash');
    expect((await shown.allInnerTexts()).every((text) => text.includes('Bash'))).toBe(true);
    await search.fill('');
    expect(await shown.count()).toBe(0);
    expect(await page.locator('#edits details.group:visible').count()).toBeGreaterThan(1);
  });

  test('sorts the edits of a group by keyboard', async () => {
    const { page } = await open('long');
    await page.locator('#edits summary').first().focus();
    await page.keyboard.press('Enter');
    const turns = `[...document.querySelectorAll('#edits details:first-of-type [data-item]')]
      .map((row) => Number(row.dataset.turn))`;
    const before = await page.evaluate<number[]>(turns);
    await page.locator('#edits select').focus();
    await page.keyboard.press('ArrowDown');
    const after = await page.evaluate<number[]>(turns);
    expect(after).toEqual(before.toSorted((a, b) => a - b));
    expect(after).not.toEqual(before);
  });

  test('switches the chart of the window by keyboard, and copies the settings', async () => {
    const { page } = await open('long');
    await page.focus('#show-with');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#map-without').isVisible()).toBe(true);
    expect(await page.locator('#map-with').isVisible()).toBe(false);
    // The button confirms this for two seconds, which a busy machine may miss.
    await page.evaluate(`{
      const button = [...document.querySelectorAll('button')].find((each) => each.textContent.includes('Copy'));
      const note = () => (window.said = (window.said ?? '') + button.textContent);
      new MutationObserver(note).observe(button, { childList: true, characterData: true, subtree: true });
    }`);
    await page.getByRole('button', { name: 'Copy' }).click();
    await expect.poll(() => page.evaluate('window.said')).toMatch(/Copied|Selected/);
    expect(await page.evaluate('getSelection().toString()')).toContain('createCompactor({');
  });

  test('sorts the sessions of a folder, and opens them', async () => {
    const { page } = await open('folder');
    const sessions = page.locator('.session');
    await page.locator('#sessions select').selectOption('saved');
    const saved = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.session')].map((each) => Number(each.dataset.saved))`,
    );
    expect(saved).toEqual(saved.toSorted((a, b) => b - a));
    await sessions.first().locator('summary').click();
    expect(await sessions.first().innerText()).toContain('reclaimed');
  });

  test('shows what each day cost and saved on a phone, without scrolling', async () => {
    const { page } = await open('folder', { viewport: { width: 390, height: 844 } });
    const [room, table] = await page.evaluate<[number, number]>(
      `[document.querySelector('.scroll:has(#days)').clientWidth, document.querySelector('#days').offsetWidth]`,
    );
    expect(table).toBeLessThanOrEqual(room);
    expect(await page.locator('#days tbody td:last-child').first().isVisible()).toBe(true);
    expect(await page.locator('#days tbody td:nth-child(8)').first().innerText()).toContain('$');
  });

  test('does not overlap a long name with figures, or the button with code, on a phone', async () => {
    const viewport = { width: 390, height: 844 };
    const { page: folderPage } = await open('folder', { viewport });
    const [room, text] = await folderPage.evaluate<[number, number]>(`(() => {
      const name = document.querySelector('.session .what');
      name.querySelector('b').textContent = 'w'.repeat(100);
      return [name.clientWidth, name.scrollWidth];
    })()`);
    expect(text).toBeLessThanOrEqual(room);
    const { page } = await open('long', { viewport });
    const [button, code] = [page.locator('[data-copy]'), page.locator('#snippet')];
    const [above, below] = [await button.boundingBox(), await code.boundingBox()];
    expect(above!.y + above!.height).toBeLessThanOrEqual(below!.y);
  });

  test('no id breaks in the middle', async () => {
    const { page } = await open('long', { viewport: { width: 390, height: 844 } });
    await page.locator('#edits summary').first().click();
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('#edits details[open] td.id')].map((id) => id.clientHeight)`,
    );
    expect(heights.length).toBeGreaterThan(0);
    expect(Math.max(...heights)).toBeLessThan(30);
  });

  test('has its tables without JavaScript', async () => {
    const { page } = await open('long', { javaScriptEnabled: false });
    for (const id of ['totals', 'policies']) {
      expect(await page.locator(`#${id} tbody tr`).count()).toBeGreaterThan(1);
      expect(await page.locator(`#${id}`).isVisible()).toBe(true);
    }
    expect(await page.locator('#lives rect').first().isVisible()).toBe(true);
    expect(await page.locator('.cell').first().isVisible()).toBe(true);
    expect(await page.locator('.filter').isVisible()).toBe(false);
    await page.locator('#edits summary').first().click();
    expect(await page.locator('#edits tbody tr').first().isVisible()).toBe(true);
  });

  const screens = [
    ['long', 360],
    ['hostile', 390],
    ['folder', 390],
    ['long', 1600],
  ] as const;

  test.each(sample(screens, 2))(
    '%s: is no wider than a screen of %d px, and the script shifts nothing',
    async (name, width) => {
      const viewport = { width, height: 844 };
      const sizes: unknown[] = [];
      for (const javaScriptEnabled of [true, false]) {
        const { page } = await open(name, { viewport, javaScriptEnabled });
        sizes.push(await page.evaluate(SIZE));
      }
      // The page reserves the space that the script fills: it is as high without the script.
      expect(sizes[0]).toEqual(sizes[1]);
      expect(sizes[0]).toEqual([width, expect.any(Number)]);
    },
  );
});
