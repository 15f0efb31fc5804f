// The settings on the page can be pasted: a session made with them behaves like the page shows.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Session } from '../../../src/index.js';
import { settingsSnippet } from '../../../src/cli/replay/settings-snippet.js';
import { longSession, record } from '../../support/report-documents.js';
import { length } from '../../support/scale.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);

/** Pastes a snippet into a module, where `ctxfold` is the build, and runs it. */
async function paste(snippet: string): Promise<Session> {
  const file = path.join(folder, `${createHash('sha256').update(snippet).digest('hex')}.mjs`);
  const built = pathToFileURL(path.resolve('dist/index.js')).href;
  writeFileSync(file, `${snippet.replace("'ctxfold'", `'${built}'`)}\nexport { session };`);
  const { session } = (await import(pathToFileURL(file).href)) as { readonly session: Session };
  return session;
}

describe('settingsSnippet', () => {
  test.each([
    {},
    { contextLimit: 4_000, threshold: 0.2, preserveThreshold: 0.3 },
    { contextLimit: 9_000, strategy: 'top-down-truncation', recency: 2 },
  ] as const)('creates the played session: %j', async (options) => {
    const entries = longSession(length(40));
    const { report } = await record(entries, { session: undefined, ...options });
    const session = await paste(settingsSnippet(report.settings));
    const { recencyRetention } = report.settings;
    expect(session.settings.get('compression.density.recencyRetention') ?? null).toBe(
      recencyRetention,
    );
    const tokens: number[] = [];
    for (const entry of entries) {
      if (entry.speaker === 'ai') {
        await session.ensureCompressionBeforeSend('p', 0, 'test');
        tokens.push(session.history.getTotalTokens());
      }
      session.history.add(entry);
    }
    await session.close();
    expect(tokens).toEqual(report.modelCalls.map((call) => call.tokens.with));
  });

  test('says that truncation replaces a summary that fails', async () => {
    const { report } = await record([], {});
    const model = { baseUrl: 'http://localhost/v1', model: 'm', contextLimit: 9_000 };
    const summarizer = { ...model, fallbackToTruncation: true };
    const text = settingsSnippet({ ...report.settings, strategy: 'middle-out', summarizer });
    expect(text).toContain(`    'compression.fallbackToTruncation': true\n`);
    const stops = { ...summarizer, fallbackToTruncation: false };
    expect(settingsSnippet({ ...report.settings, summarizer: stops })).not.toContain('fallback');
  });
});
