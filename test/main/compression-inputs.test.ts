// What a session passes to a strategy besides its history: todos, transcript, model and prompt.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';

import { createCompactor } from '../../src/main/compactor.js';
import type { Todo } from '../../src/main/summarizer/todo.js';
import { aiContent, humanText } from '../../src/shared/content.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const INLINE = { offload: 'inline', tokenizer: 'estimate' } as const;
const TODO: Todo = {
  id: '1',
  content: 'write the parser',
  status: 'in_progress',
  subtasks: [{ id: '2', content: 'test it' }],
};

describe('buildCompressionContext', () => {
  it('holds the todos as they are now, the transcript, the model of the profile and the prompt', async () => {
    const directory = temporaryFolder();
    await writeFile(join(directory, 'compression.md'), 'Summarize.');
    const model = scriptedSummarizer('x');
    const summarizer = vi.fn(() => model);
    await using compactor = createCompactor({
      ...INLINE,
      summarizer,
      promptDirectory: directory,
      settings: { 'compression.strategy': 'one-shot', 'compression.profile': 'cheap' },
    });
    let todos: readonly Todo[] = [];
    const removalLogPath = join(directory, 'session.removals.jsonl');
    const session = await compactor.createSession({ removalLogPath, activeTodos: () => todos });
    todos = [TODO];
    const context = session.buildCompressionContext('p1');
    expect(context).toMatchObject({
      promptId: 'p1',
      activeTodos: [TODO],
      transcriptPath: removalLogPath,
      compressionPrompt: 'Summarize.',
    });
    expect(context.summarizer).toBe(model);
    expect(summarizer).toHaveBeenCalledWith('cheap');
  });

  it('leaves out what the session does not have', async () => {
    const settings = { 'compression.strategy': 'one-shot' } as const;
    await using compactor = createCompactor({ ...INLINE, settings });
    const session = await compactor.createSession();
    const context = session.buildCompressionContext('p1');
    for (const field of ['activeTodos', 'transcriptPath', 'summarizer', 'compressionPrompt']) {
      expect(context).not.toHaveProperty(field);
    }
  });
});

describe('buildCompressionContext for a strategy without a model', () => {
  it('asks the host for nothing', async () => {
    const summarizer = vi.fn();
    const activeTodos = vi.fn(() => [TODO]);
    await using compactor = createCompactor({ ...INLINE, summarizer });
    const session = await compactor.createSession({ activeTodos });
    expect(session.buildCompressionContext('p1')).not.toHaveProperty('activeTodos');
    expect(activeTodos).not.toHaveBeenCalled();
    expect(summarizer).not.toHaveBeenCalled();
  });
});

describe('performCompression', () => {
  it.each(['one-shot', 'middle-out'] as const)(
    'with %s, includes the todos in the prompt and the path of the transcript in the summary',
    async (strategy) => {
      const removalLogPath = join(temporaryFolder(), 'session.removals.jsonl');
      const summarizer = scriptedSummarizer(snapshot('all of it'));
      const settings = { 'compression.strategy': strategy };
      await using compactor = createCompactor({ ...INLINE, summarizer, settings });
      const history = Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0 ? humanText('please '.repeat(50)) : aiContent('done '.repeat(50)),
      );
      const activeTodos = (): readonly Todo[] => [TODO];
      const session = await compactor.createSession({ history, removalLogPath, activeTodos });
      expect(await session.performCompression('p1')).toMatchObject({ outcome: 'applied' });
      expect(summarizer.requests[0]?.prompt).toContain('write the parser');
      const note = session.history.getAll().find(({ metadata }) => metadata?.isSummary === true);
      expect(JSON.stringify(note)).toContain(
        `Full pre-compression transcript available at: ${removalLogPath}`,
      );
    },
  );
});
