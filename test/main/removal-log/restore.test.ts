// Which of several records of a call counts as the original, and that a restore reads little.

import { truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { RemovalDraft, RemovalKind } from '../../../src/main/removal-log/removal-record.js';
import { restore } from '../../../src/main/removal-log/restore.js';
import type { RestoredResponse } from '../../../src/main/removal-log/restore.js';
import type { RemovalLog } from '../../../src/main/removal-log/removal-log.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../src/shared/density.js';
import { openWriter, temporaryPath } from './recording.js';
import { excerptOf } from '../../support/excerpt-of.js';

/** Of all sessions in these transcripts. */
const ALL = { acrossSessions: true } as const;

function answer(result: unknown, callId = 'c1'): IContent {
  return toolContent([toolResponse(callId, 'read_file', result)]);
}

function asking(path: string, callId = 'c1'): IContent {
  return aiContent([toolCall(callId, 'read_file', { path })]);
}

function gone(entry: IContent, kind: RemovalKind = 'compressed', sessionId = 's'): RemovalDraft {
  return { sessionId, kind, index: 0, entry };
}

function replaced(entry: IContent, replacement: IContent): RemovalDraft {
  return { ...gone(entry, 'replaced'), replacement };
}

interface Recording {
  readonly writer: RemovalLog;
  /** Restores through the writer, through a new writer and from the file; all must agree. */
  readonly restored: (callId?: string, sessionId?: string) => Promise<RestoredResponse>;
}

async function recording(...batches: readonly (readonly RemovalDraft[])[]): Promise<Recording> {
  const path = temporaryPath();
  const writer = await openWriter(path);
  for (const batch of batches) await writer.append(batch);
  const restored: Recording['restored'] = async (callId = 'c1', sessionId) => {
    const options = sessionId === undefined ? ALL : { sessionId };
    const found = await restore(path, callId, options);
    expect(await writer.restore(callId, options)).toEqual(found);
    await writer.close();
    const again = await openWriter(path);
    expect(await again.restore(callId, options)).toEqual(found);
    await again.close();
    return found;
  };
  return { writer, restored };
}

describe('restore', () => {
  test('returns an excerpt if nothing else is recorded, and otherwise the original', async () => {
    const output = 'readFile of output\n'.repeat(100);
    const excerpt = excerptOf(output, PRUNED_POINTER);
    const only = await recording([gone(answer(excerpt))]);
    expect((await only.restored()).response.result).toBe(excerpt);
    const both = await recording(
      [gone(answer(output))],
      [gone(answer(excerpt), 'compressed', 'later')],
    );
    expect((await both.restored()).response.result).toBe(output);
  });

  test('finds a call and its complete response among others in their entries', async () => {
    const [calls, responses] = [
      ['c1', 'c2'],
      ['c1', 'c2', 'c1', 'c1'],
    ];
    const results = ['found', 'other', 'so far', PRUNED_POINTER];
    const blocks = responses.map((id, at) => toolResponse(id, 'read_file', results[at]));
    const partial = { ...blocks[2]!, isComplete: false };
    const { restored } = await recording([
      gone(aiContent(calls.map((id) => toolCall(id, 'read_file', { path: `${id}.ts` })))),
      gone(toolContent([blocks[0]!, blocks[1]!, partial, blocks[3]!])),
    ]);
    expect(await restored()).toMatchObject({
      response: { result: 'found' },
      call: { id: 'c1', parameters: { path: 'c1.ts' } },
    });
  });

  test('returns the call of the same tool where parallel calls have one id', async () => {
    const calls = ['read_file', 'search'].map((name) => toolCall('call_0', name, { from: name }));
    const results = calls.map(({ name }) => toolResponse('call_0', name, `found by ${name}`));
    const apart = await recording([
      gone(aiContent(calls)),
      ...[results[1]!, results[0]!].map((each) => gone(toolContent([each]))),
    ]);
    expect(await apart.restored('call_0')).toMatchObject({
      response: { result: 'found by read_file' },
      call: { name: 'read_file', parameters: { from: 'read_file' } },
    });
  });

  test('returns the original and not an excerpt beside it', async () => {
    const output = 'readFile of output\n'.repeat(100);
    const excerpt = toolResponse('c1', 'read_file', excerptOf(output, PRUNED_POINTER));
    const { restored } = await recording([
      gone(toolContent([toolResponse('c1', 'read_file', output), excerpt])),
    ]);
    expect((await restored()).response.result).toBe(output);
  });

  test('finds what was recorded after the file was truncated', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    await writer.append([gone(answer('old')), gone(answer('old'))]);
    await writer.restore('c1', ALL);
    await truncate(path, 0);
    await writer.append([gone(answer('new'))]);
    expect((await writer.restore('c1', ALL)).response.result).toBe('new');
  });

  test('refuses to search the sessions of all unless asked to', async () => {
    const asked = restore(temporaryPath(), 'c1', {} as never);
    await expect(asked).rejects.toThrow(/^Expected the session whose results may be given back/);
  });

  test('returns response and call unchanged', async () => {
    const { restored } = await recording([gone(asking('a.ts')), gone(answer({ lines: 3 }))]);
    expect(await restored()).toEqual({
      response: toolResponse('c1', 'read_file', { lines: 3 }),
      call: toolCall('c1', 'read_file', { path: 'a.ts' }),
      sessionId: 's',
      recordedAt: expect.any(Number),
    });
  });

  test('skips an incomplete response to the same call', async () => {
    const running = { ...toolResponse('c1', 'read_file', 'so far'), isComplete: false };
    const both = toolContent([toolResponse('c1', 'read_file', 'all of it'), running]);
    const { restored } = await recording([gone(both)]);
    expect((await restored()).response.result).toBe('all of it');
  });

  test('returns the response alone while the call is in the history', async () => {
    const { restored } = await recording([replaced(answer('long'), answer(PRUNED_POINTER))]);
    const found = await restored();
    expect(found.response.result).toBe('long');
    expect(found.call).toBeUndefined();
  });

  test('skips the pointer and replacements of the original', async () => {
    const { restored } = await recording(
      [replaced(answer('long'), answer('[short]'))],
      [replaced(answer('[short]'), answer(PRUNED_POINTER))],
      [gone(answer(PRUNED_POINTER))],
    );
    expect((await restored()).response.result).toBe('long');
  });

  test('returns the latest of several calls with one id', async () => {
    const { restored } = await recording(
      [replaced(answer('first'), answer('[short]'))],
      [gone(asking('a.ts')), gone(answer('[short]'))],
      [gone(asking('b.ts')), replaced(answer('second'), answer('[short]'))],
      [gone(answer('[short]'))],
    );
    const { response, call } = await restored();
    expect([response.result, call?.parameters]).toEqual(['second', { path: 'b.ts' }]);
  });

  test('returns no call of another tool with the same id', async () => {
    const other = aiContent([toolCall('c1', 'write_file', { path: 'b.ts' })]);
    const { restored } = await recording([
      gone(asking('a.ts')),
      gone(answer('text of a.ts')),
      gone(other),
    ]);
    expect((await restored()).call).toEqual(toolCall('c1', 'read_file', { path: 'a.ts' }));
  });

  test('keeps sessions apart', async () => {
    const { restored } = await recording([
      gone(answer('mine'), 'removed', 's'),
      gone(asking('theirs'), 'removed', 'other'),
      gone(answer('theirs'), 'removed', 'other'),
    ]);
    const mine = await restored('c1', 's');
    expect([mine.response.result, mine.call]).toEqual(['mine', undefined]);
    const { restored: restoredLatest } = await recording([
      gone(answer('mine'), 'removed', 's'),
      gone(answer('theirs'), 'removed', 'other'),
    ]);
    expect((await restoredLatest()).response.result).toBe('theirs');
  });

  test('finds one response among several of parallel calls', async () => {
    const before = toolContent([
      toolResponse('c1', 'read_file', 'one'),
      toolResponse('c2', 'read_file', 'two'),
    ]);
    const after = toolContent([
      toolResponse('c1', 'read_file', PRUNED_POINTER),
      toolResponse('c2', 'read_file', 'two'),
    ]);
    const { restored } = await recording([replaced(before, after)], [gone(after)]);
    expect((await restored('c2')).response.result).toBe('two');
  });

  test('skips a replacement that another session was resumed with', async () => {
    const { restored } = await recording(
      [replaced(answer('long'), answer('[short]'))],
      [gone(answer('[short]'), 'compressed', 'later')],
    );
    expect((await restored()).response.result).toBe('long');
    expect((await restored('c1', 'later')).response.result).toBe('[short]');
  });

  test('skips what looks like a placeholder, unless there is nothing else', async () => {
    const line = '[read_file: a.ts — success, 3 lines; recall("c1") for the original]';
    const ofSessions = [gone(answer('long')), gone(answer(line), 'compressed', 'later')];
    const { restored } = await recording(ofSessions);
    expect((await restored()).response.result).toBe('long');
    const { restored: restoredAlone } = await recording([gone(answer(line))]);
    expect((await restoredAlone()).response.result).toBe(line);
    const { restored: restoredOther } = await recording([
      gone(answer('long', 'c2')),
      gone(answer(line, 'c2')),
    ]);
    expect((await restoredOther('c2')).response.result).toBe(line);
  });

  test('reports that an id is not recorded, or only with its pointer', async () => {
    const { writer } = await recording([gone(answer(PRUNED_POINTER)), gone(asking('x', 'c2'))]);
    for (const callId of ['c1', 'c2', 'unknown', '__proto__']) {
      const expected = { code: 'NOT_IN_REMOVAL_LOG', message: expect.stringContaining(callId) };
      await expect(restore(writer.path, callId, ALL)).rejects.toMatchObject(expected);
      await expect(writer.restore(callId, ALL)).rejects.toMatchObject(expected);
    }
  });

  test('reports how much was damaged when it finds nothing', async () => {
    const path = temporaryPath();
    await writeFile(path, 'junk\n');
    await expect(restore(path, 'c1', ALL)).rejects.toThrow('4 bytes of it were damaged');
  });

  test('finds through a writer what was recorded before and after it was opened', async () => {
    const { writer } = await recording([replaced(answer('long'), answer('[short]'))]);
    await writer.close();
    const again = await openWriter(writer.path);
    await again.append([gone(answer('[short]')), gone(answer('other', 'c2'))]);
    expect((await again.restore('c1', ALL)).response.result).toBe('long');
    expect((await again.restore('c2', ALL)).response.result).toBe('other');
  });

  test('reports a record that was cut off in a file with an open writer', async () => {
    const { writer } = await recording([gone(answer('long'))]);
    await truncate(writer.path, 20);
    await expect(writer.restore('c1', ALL)).rejects.toMatchObject({
      code: 'REMOVAL_LOG_READ_FAILED',
    });
  });
});
