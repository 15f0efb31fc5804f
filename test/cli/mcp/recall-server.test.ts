// The server's tools through a client of the official SDK, with removal logs that sessions have written.

import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLAYS_ALL, runs } from '../../support/scale.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../src/shared/density.js';
import { serveRecall } from '../../support/recall-client.js';
import type { ServedRecall } from '../../support/recall-client.js';
import { openWriter, temporaryPath } from '../../main/removal-log/recording.js';

const serve = (...paths: readonly string[]): Promise<ServedRecall> => serveRecall({ paths });

function answered(id: string, result: unknown, error?: string): IContent {
  return toolContent([toolResponse(id, 'read_file', result, error)]);
}

/** Writes records of the session `s`, at a fixed time. */
async function record(path: string, ...entries: readonly IContent[]): Promise<void> {
  return recordOf('s', path, ...entries);
}

async function recordOf(
  sessionId: string,
  path: string,
  ...entries: readonly IContent[]
): Promise<void> {
  return recordAt(1_700_000_000_000, sessionId, path, entries);
}

async function recordAt(
  now: number,
  sessionId: string,
  path: string,
  entries: readonly IContent[],
): Promise<void> {
  const writer = await openWriter(path, { now: () => now });
  for (const entry of entries) {
    await writer.append([{ sessionId, kind: 'removed', index: 0, entry }]);
  }
  await writer.close();
}

describe('createRecallServer', () => {
  it('describes its tools, and marks them as read-only', async () => {
    const { client } = await serve(temporaryPath());
    const { tools } = await client.listTools();
    expect(client.getServerVersion()).toMatchObject({ name: 'ctxfold', version: '1.2.3' });
    expect(tools.map(({ name }) => name)).toEqual(['recall', 'list_removed']);
    for (const { description, annotations } of tools) {
      expect(description).toMatch(/ Use it .+\./);
      expect(annotations).toMatchObject({ readOnlyHint: true });
    }
  });

  describe('recall', () => {
    it('returns texts as they are and other values as JSON, whatever they contain', async () => {
      const result = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
        fc.jsonValue(),
      );
      const results = fc
        .sample(result, runs(200))
        .filter((one) => one !== PRUNED_POINTER && one !== '' && one !== null);
      results.push('\u0000\ud800');
      const path = temporaryPath();
      await record(path, ...results.map((one, at) => answered(`c${at}`, one)));
      const { recall } = await serve(path);
      for (const [at, one] of results.entries()) {
        const text = typeof one === 'string' ? one : JSON.stringify(one);
        expect(await recall(`c${at}`)).toEqual({ text, isError: false });
      }
      const long = 'x'.repeat(PLAYS_ALL ? 3_000_000 : 700_000);
      await record(path, answered('long', long));
      expect(await recall('long')).toEqual({ text: long, isError: false });
    });

    it('finds results in any log of a folder, also in a later one', async () => {
      const path = temporaryPath('a.removals.jsonl');
      await record(path, answered('c1', 'one'));
      const { recall, list } = await serve(dirname(path));
      expect((await recall('c1')).text).toBe('one');
      await record(`${dirname(path)}/b.removals.jsonl`, answered('c2', 'two'));
      expect((await recall('c2')).text).toBe('two');
      expect((await list()).text).toMatch(/^2 of 2:/);
    });

    it('returns the error of a failed tool', async () => {
      const path = temporaryPath();
      await record(path, answered('c1', '', 'no such file'), answered('c2', null));
      const { recall } = await serve(path);
      expect(await recall('c1')).toEqual({ text: 'no such file', isError: false });
      expect(await recall('c2')).toEqual({ text: 'null', isError: false });
    });

    it('says what to do about an unknown id', async () => {
      const path = temporaryPath();
      await record(path, answered('c1', 'x'));
      const { recall } = await serve(path);
      const { text, isError } = await recall('c2');
      expect([text, isError]).toEqual([expect.stringMatching(/"c2".*list_removed/), true]);
      expect(text).not.toContain(path);
      expect((await recall('c'.repeat(10_000))).text.length).toBeLessThan(400);
    });

    it('searches all transcripts, also those that are created or grow while it runs', async () => {
      const paths = [temporaryPath(), temporaryPath()] as const;
      const { recall } = await serve(...paths);
      expect((await recall('c1')).isError).toBe(true);
      await record(paths[1], answered('c1', 'now there'));
      expect((await recall('c1')).text).toBe('now there');
      await record(paths[0], answered('c2', 'there as well'));
      await record(paths[1], answered('c3', 'grown'));
      expect((await recall('c2')).text).toBe('there as well');
      expect((await recall('c3')).text).toBe('grown');
    });

    it('returns the newest of several logged results of one call', async () => {
      const paths = [temporaryPath(), temporaryPath(), temporaryPath()] as const;
      await recordAt(1_000, 's', paths[0], [answered('c1', 'first')]);
      await recordAt(3_000, 's', paths[1], [answered('c1', 'last')]);
      await recordAt(2_000, 's', paths[2], [answered('c1', 'between')]);
      const { recall } = await serve(...paths);
      expect((await recall('c1')).text).toBe('last');
    });

    it('reports that a transcript cannot be read', async () => {
      const { recall, list } = await serve('/dev/null');
      expect(await recall('c1')).toEqual({
        text: expect.stringContaining('cannot be read just now'),
        isError: true,
      });
      expect(await list()).toEqual({
        text: expect.stringContaining('cannot be listed just now'),
        isError: true,
      });
    });
  });

  describe('list_removed', () => {
    it('lists tool, key parameter, outcome, size and id, newest first', async () => {
      const path = temporaryPath();
      await record(
        path,
        aiContent([toolCall('c1', 'read_file', { path: 'src/a.ts' })]),
        answered('c1', 'a\nb'),
        answered('c"2', 'failed', 'no'),
      );
      const { list } = await serve(path);
      expect((await list()).text.split('\n')).toEqual([
        '2 of 2:',
        '"c\\"2" [read_file: 1 line — error] removed 2023-11-14T22:13:20.000Z',
        '"c1" [read_file: src/a.ts — success, 2 lines] removed 2023-11-14T22:13:20.000Z',
      ]);
      expect((await list({ limit: 2 })).text).not.toContain('cursor');
    });

    it('returns pages that neither skip nor repeat results while the transcripts grow', async () => {
      const paths = [temporaryPath(), temporaryPath()] as const;
      const ids = Array.from({ length: 25 }, (_, at) => `c${at}`);
      await record(paths[0], ...ids.slice(0, 12).map((id) => answered(id, id)));
      await record(paths[1], ...ids.slice(12).map((id) => answered(id, id)));
      const { list } = await serve(...paths);
      const seen: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < 5; page += 1) {
        const { text } = await list({ limit: 6, ...(cursor !== undefined && { cursor }) });
        seen.push(...[...text.matchAll(/^"(c\d+)" /gm)].map(([, id = '']) => id));
        cursor = /with cursor "(.*)"\.$/.exec(text)?.[1];
        // New results come in front of the remaining pages.
        await record(paths[1], answered(`late${page}`, 'x'));
        expect(text.startsWith(`${page === 4 ? 1 : 6} of ${25 + page}:`)).toBe(true);
      }
      expect(cursor).toBeUndefined();
      expect(seen).toEqual([...ids].reverse());
    });

    it('reports that nothing was removed, or that a cursor is invalid', async () => {
      const path = temporaryPath();
      const { list } = await serve(path);
      expect(await list()).toEqual({ text: 'Nothing was removed so far.', isError: false });
      await writeFile(path, '');
      expect((await list()).text).toBe('Nothing was removed so far.');
      for (const cursor of ['', 'x', '1.2', '-1']) {
        const { text, isError } = await list({ cursor });
        expect([text, isError]).toEqual([expect.stringContaining('Leave it out'), true]);
      }
    });
  });

  describe('with transcripts of several sessions', () => {
    const TOOLS = ['recall', 'list'] as const;

    it('returns no results and no names until a session is given', async () => {
      const path = temporaryPath();
      await recordOf('ann', path, answered('c1', 'of ann'));
      const { recall, list } = await serve(path);
      expect(await recall('c1')).toEqual({ text: 'of ann', isError: false });
      await recordOf('bob', path, answered('c2', 'of bob'));
      for (const { text, isError } of [await recall('c1'), await recall('c2'), await list()]) {
        expect([text, isError]).toEqual([expect.stringContaining('several conversations'), true]);
        expect(text).not.toMatch(/ann|bob|c1|c2/);
      }
    });

    it.each(TOOLS)('only returns results of the given session: %s', async (tool) => {
      const paths = [temporaryPath(), temporaryPath()] as const;
      for (const path of paths) {
        await recordOf('ann', path, answered('c1', 'of ann'), answered('a2', 'of ann'));
        await recordOf('bob', path, answered('c1', 'of bob'), answered('b2', 'of bob'));
      }
      const served = await serveRecall({ paths, scope: { sessionId: 'ann' } });
      if (tool === 'recall') {
        expect((await served.recall('c1')).text).toBe('of ann');
        expect((await served.recall('b2')).text).toMatch(/^No original/);
      } else {
        const { text } = await served.list();
        expect([...text.matchAll(/^"(\w+)"/gm)].map(([, id]) => id)).toEqual([
          'a2',
          'c1',
          'a2',
          'c1',
        ]);
      }
    });

    it('returns results of all sessions if configured', async () => {
      const path = temporaryPath();
      await recordOf('ann', path, answered('a2', 'of ann'));
      await recordOf('bob', path, answered('b2', 'of bob'));
      const { recall, list } = await serveRecall({
        paths: [path],
        scope: { acrossSessions: true },
      });
      expect((await recall('a2')).text).toBe('of ann');
      expect((await recall('b2')).text).toBe('of bob');
      expect((await list()).text).toMatch(/^2 of 2:/);
    });
  });
});
