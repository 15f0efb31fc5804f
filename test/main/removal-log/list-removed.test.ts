// The listing of a transcript: one line for each result that can be restored, and nothing else.

import { describe, expect, test } from 'vitest';
import { listRemoved } from '../../../src/main/removal-log/list-removed.js';
import type { RemovalDraft } from '../../../src/main/removal-log/removal-record.js';
import {
  aiContent,
  isToolResponseBlock,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../src/shared/density.js';
import { openWriter, temporaryPath } from './recording.js';
import { excerptOf } from '../../support/excerpt-of.js';

const LINE = '[read_file: a.ts — success, 3 lines; recall("c1") for the original]';

function answer(result: unknown, callId = 'c1', error?: string): IContent {
  return toolContent([toolResponse(callId, 'read_file', result, error)]);
}

function responses({ blocks }: IContent) {
  return blocks.filter(isToolResponseBlock);
}

function gone(entry: IContent, sessionId = 's', replacement?: IContent): RemovalDraft {
  const kind = replacement === undefined ? 'removed' : 'replaced';
  return { sessionId, kind, index: 0, entry, replacement };
}

async function listed(...drafts: readonly RemovalDraft[]) {
  const path = temporaryPath();
  let now = 0;
  const writer = await openWriter(path, { now: () => (now += 1) });
  for (const draft of drafts) await writer.append([draft]);
  return listRemoved(path, { acrossSessions: true });
}

describe('listRemoved', () => {
  test('describes each result, in the order of removal', async () => {
    const asking = aiContent([toolCall('c1', 'read_file', { path: 'a.ts' })]);
    expect(
      await listed(
        gone(answer('x\ny')),
        gone(asking),
        gone(answer('', 'c2', 'none')),
        gone(answer(7, 'c3')),
      ),
    ).toEqual([
      {
        callId: 'c1',
        toolName: 'read_file',
        key: 'a.ts',
        isFailed: false,
        size: { amount: 2, unit: 'line' },
        line: '[read_file: a.ts — success, 2 lines]',
        sessionId: 's',
        removedAt: 1,
      },
      {
        callId: 'c2',
        toolName: 'read_file',
        isFailed: true,
        size: { amount: 1, unit: 'line' },
        line: '[read_file: 1 line — error]',
        sessionId: 's',
        removedAt: 3,
      },
      {
        callId: 'c3',
        toolName: 'read_file',
        isFailed: false,
        line: '[read_file — success]',
        sessionId: 's',
        removedAt: 4,
      },
    ]);
  });

  test('omits replacements of originals, in whatever session they were removed', async () => {
    const [only, ...others] = await listed(
      gone(answer('long\nlong'), 's', answer('[short]')),
      gone(answer('[short]'), 's', answer(PRUNED_POINTER)),
      gone(answer(PRUNED_POINTER)),
      gone(answer('[short]'), 'later', answer(LINE)),
      gone(answer(LINE), 'later'),
    );
    expect([only?.size, only?.removedAt, others]).toEqual([{ amount: 2, unit: 'line' }, 1, []]);
  });

  test('omits excerpts if there is an original', async () => {
    const output = 'readFile of output\n'.repeat(100);
    const excerpt = excerptOf(output, PRUNED_POINTER);
    const once = await listed(
      gone(answer(output), 's', answer(excerpt)),
      gone(answer(excerpt), 's', answer(PRUNED_POINTER)),
    );
    // In the same entry as something else, in a later session: no checksum identifies it.
    const again = await listed(
      gone(answer(output), 's', answer(excerpt)),
      gone(toolContent([...responses(answer(excerpt)), ...responses(answer('x', 'c2'))]), 'later'),
    );
    expect(once.map(({ size }) => size?.amount)).toEqual([101]);
    expect(again.map(({ callId, size }) => [callId, size?.amount])).toEqual([
      ['c1', 101],
      ['c2', 1],
    ]);
    expect((await listed(gone(answer(excerpt)))).map(({ callId }) => callId)).toEqual(['c1']);
  });

  test('lists the latest of several calls with one id', async () => {
    const results = await listed(
      gone(answer('first')),
      gone(answer('other', 'c2')),
      gone(answer('a\nb')),
    );
    expect(results.map(({ callId, removedAt }) => [callId, removedAt])).toEqual([
      ['c2', 2],
      ['c1', 3],
    ]);
  });

  test('lists what looks like a placeholder if there is nothing else', async () => {
    expect((await listed(gone(answer(LINE)))).map(({ line }) => line)).toEqual([LINE]);
  });

  test('ignores incomplete results', async () => {
    const running = toolContent([
      { ...toolResponse('c1', 'read_file', 'so far'), isComplete: false },
    ]);
    expect(await listed(gone(running))).toEqual([]);
  });

  test('reports a missing file', async () => {
    await expect(listRemoved(temporaryPath(), { sessionId: 's' })).rejects.toMatchObject({
      code: 'REMOVAL_LOG_READ_FAILED',
    });
  });
});
