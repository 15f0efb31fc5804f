// The live page of a gateway, in a browser.

import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../src/gateway/start-gateway.js';
import { gatewayPage } from '../../../src/cli/gateway/gateway-page.js';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import { CHROMIUM_MISSING, CHROMIUM_PATH } from '../../support/browser.js';
import { gatewayWorld } from '../../support/gateway-world.js';
import type { GatewayWorld } from '../../support/gateway-world.js';

const HOSTILE = `<img src=x onerror="document.title='owned'"></script><script>document.title='owned'</script>`;
const USAGE = '{"usage":{"input_tokens":30,"cache_read_input_tokens":70,"output_tokens":4}}';

describe.skipIf(CHROMIUM_PATH === undefined)(
  `the live page in a browser${CHROMIUM_MISSING}`,
  () => {
    let browser: Browser;
    let world: GatewayWorld;
    let close: () => Promise<void>;
    let page: Page;
    const noise: string[] = [];
    const [anthropic] = API_TALKS;

    async function calls(from: number, to: number, name: string, besides = {}): Promise<void> {
      const messages = [anthropic!.user(`${HOSTILE} ${name}`), ...talk(anthropic!, 30)];
      for (let end = from; end <= to; end += 2) {
        const body = bodyOf(anthropic!, messages.slice(0, end), besides);
        await world.send(anthropic!.path, { body, headers: { 'x-session-id': name } });
      }
    }

    beforeAll(async () => {
      const options = { page: gatewayPage, dry: ['dry-one'] };
      world = await gatewayWorld(options, (closing) => (close = closing));
      world.answer = (_, response) => response.end(USAGE);
      browser = await chromium.launch({ executablePath: CHROMIUM_PATH!, args: ['--no-sandbox'] });
      page = await browser.newPage();
      page.on('console', (message) => noise.push(message.text()));
      page.on('pageerror', (error) => noise.push(error.message));
      page.on('request', (request) => {
        if (!request.url().startsWith(world.gateway.url)) noise.push(request.url());
      });
      await page.goto(`${world.gateway.url}/ctxfold`);
    });

    afterAll(async () => {
      await browser.close();
      await close();
    });

    const rows = () => page.locator('#conversations tbody tr');

    test('shows a conversation while it continues', async () => {
      await calls(4, 40, 'main-one');
      const row = rows().filter({ hasText: 'main-one' });
      await row.waitFor();
      await page.locator('#state', { hasText: 'live' }).waitFor();
      await row.filter({ hasText: '19' }).waitFor();
      expect(await row.innerText()).toMatch(/claude-sonnet-4-5/);
      expect(await row.innerText()).toMatch(/\$[\d.]+ instead of \$[\d.]+/);
      expect(await row.locator('td').last().innerText()).toMatch(/^7\d\.\d %$/);
    });

    test('shows the saving of whole requests, and says that tokens are those of messages', async () => {
      const answer = await fetch(`${world.gateway.url}/ctxfold/state`);
      const { conversations } = (await answer.json()) as {
        conversations: { bytes: number; compactedBytes: number }[];
      };
      const [{ bytes, compactedBytes } = { bytes: 0, compactedBytes: 0 }] = conversations;
      const less = ((1 - compactedBytes / bytes) * 100).toFixed(0);
      const totals = await page.locator('#totals').innerText();
      expect(totals).toMatch(
        new RegExp(`requests\\s+[\\d,]+ kB instead of [\\d,]+ kB: ${less} % less`),
      );
      expect(totals).toMatch(/tokens of messages\s+[\d,]+ instead of [\d,]+: \d+ % less/);
      expect(totals).toMatch(/cost of messages\s+\$[\d.]+ instead of/);
    });

    test('shows calls, cache misses with their cause, and edits with the original', async () => {
      await rows().getByRole('button', { name: 'main-one' }).press('Enter');
      await page.locator('#calls tbody tr').first().waitFor();
      expect(await rows().getByRole('button', { pressed: true }).innerText()).toContain('main-one');
      await expect.poll(() => page.evaluate('scrollY')).toBe(0);
      expect(await page.locator('#calls').innerText()).toMatch(/first call/);
      const edit = page.locator('#edits tbody tr').filter({ hasText: 'read_file' }).last();
      expect(await edit.locator('td').first().innerText()).toMatch(/^(?:shrink|[\w-]+: [\w-]+)$/);
      expect(await page.content()).not.toContain('has seen');
      await edit.getByRole('button', { name: 'show' }).click();
      await page.locator('#original', { hasText: 'has seen' }).waitFor();
    });

    test('keeps the focus while calls arrive', async () => {
      const focused = (): Promise<unknown> =>
        page.evaluate(
          `[document.activeElement.tagName, document.activeElement.closest('tr')?.dataset.id]`,
        );
      const row = rows().filter({ hasText: 'main-one' });
      const shown = async (count: number): Promise<void> => {
        await row.filter({ hasText: `${count}` }).waitFor();
      };
      const edit = page.locator('#edits tbody tr button').first();
      for (const [place, count] of [
        [row.getByRole('button'), 20],
        [edit, 21],
      ] as const) {
        await place.focus();
        const before = await focused();
        await calls(42, 42, 'main-one');
        await shown(count);
        expect(await focused()).toEqual(before);
      }
      await row.click();
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      const read = await page.evaluate('scrollY');
      expect(read).toBeGreaterThan(0);
      await calls(42, 42, 'main-one');
      await expect.poll(() => page.locator('#calls tbody tr').count()).toBe(22);
      expect(await page.evaluate('scrollY')).toBeGreaterThanOrEqual(Number(read));
      const select = row.getByRole('combobox');
      await select.focus();
      await page.evaluate('window.list = document.activeElement');
      await calls(42, 42, 'main-one');
      await page.locator('#totals', { hasText: '23' }).waitFor();
      expect(await page.evaluate('window.list === document.activeElement')).toBe(true);
      await shown(23);
    });

    test('leaves rows in their places while calls arrive, so that they can be clicked', async () => {
      const names = (): Promise<string[]> => rows().locator('td:first-child').allInnerTexts();
      await calls(4, 4, 'newer-one');
      await rows().filter({ hasText: 'newer-one' }).waitFor();
      expect(await names()).toEqual(['newer-one', 'main-one']);
      await page.evaluate(`window.pressed = document.querySelectorAll(
        '#conversations tbody tr:last-child, #edits tbody button')`);
      await calls(42, 42, 'main-one');
      await page.locator('#calls tbody tr').nth(23).waitFor();
      expect(await names()).toEqual(['newer-one', 'main-one']);
      expect(await page.evaluate('[...window.pressed].every((place) => place.isConnected)')).toBe(
        true,
      );
    });

    test('switches the mode of all conversations, and of one', async () => {
      const sizes = (): number[] => world.received.map(({ body }) => body.length);
      await page.getByRole('button', { name: 'Compact' }).click();
      await page.locator('[data-mode=compact][aria-pressed=true]').waitFor();
      world.received.length = 0;
      await calls(42, 42, 'main-one');
      const compacted = sizes()[0]!;
      await rows().filter({ hasText: 'main-one' }).getByRole('combobox').selectOption('observe');
      const mode = async (): Promise<unknown> => {
        const answer = await fetch(`${world.gateway.url}/ctxfold/state`);
        const state = (await answer.json()) as { conversations: { line: object; mode: string }[] };
        return state.conversations.find(({ line }) => JSON.stringify(line).includes('main-one'))
          ?.mode;
      };
      await expect.poll(mode).toBe('observe');
      await calls(44, 44, 'main-one');
      expect(sizes()[1]).toBeGreaterThan(compacted);
      await calls(4, 40, 'dry-one');
      expect(await rows().filter({ hasText: 'dry-one' }).getByRole('combobox').inputValue()).toBe(
        'observe',
      );
    });

    test('marks conversations that can no longer be observed', async () => {
      await calls(40, 40, 'bound-one', { model: 'claude-opus-5-5' });
      await page.getByRole('button', { name: 'Observe' }).click();
      await page.locator('#mode-note', { hasText: 'Compacted to their end: 1.' }).waitFor();
      const select = rows().filter({ hasText: 'bound-one' }).getByRole('combobox');
      expect([await select.isDisabled(), await select.inputValue()]).toEqual([true, 'compact']);
    });

    test('logs no error, sends no request elsewhere, and runs no hostile markup', async () => {
      expect(await page.title()).toBe('ctxfold gateway');
      expect(noise).toEqual([]);
    });

    test('shows no data of a gateway that another one has replaced', async () => {
      expect(await rows().count()).toBeGreaterThan(0);
      const { port } = new URL(world.gateway.url);
      await world.gateway.close();
      const other = await startGateway({ port: Number(port), page: gatewayPage, engine: 'inline' });
      await page.locator('#none').waitFor();
      expect(await rows().count()).toBe(0);
      await other.close();
    });
  },
);
