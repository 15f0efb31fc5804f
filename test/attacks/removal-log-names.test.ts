// External ids that become file names. The attack wrote a conversation's tool results to a file that its id led to
// (`../../escaped`), or to the file of a user whose id is the same to the file system.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessageCompactor } from '../../src/adapters/conversation/message-compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { SessionOptions } from '../../src/main/session-options.js';
import { removalLogPathIn } from '../../src/main/removal-log/removal-log-path.js';
import { restore } from '../../src/main/removal-log/restore.js';
import { HOSTILE_IDS } from '../support/hostile-ids.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user,
} from '../support/plain-message-format.js';
import type { PlainMessage } from '../support/plain-message-format.js';
import { runs } from '../support/scale.js';
import { openCompactor } from '../support/open-compactor.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function openPruning(): Compactor {
  return openCompactor({
    settings: {
      'compression.density.recencyPruning': true,
      'compression.density.recencyRetention': 1,
    },
  });
}

/** A deeply nested directory that is its outer directory's only content. */
function temporaryDirectory(): { readonly outer: string; readonly inner: string } {
  const outer = temporaryFolder();
  return { outer, inner: path.join(outer, 'a', 'b', 'c') };
}

/** Messages of which one result is pruned and hence recorded. */
function talk(secret: string): PlainMessage[] {
  const step = (id: string, output: string) => [
    assistant(call(id, 'look', { path: 'x' })),
    answer(id, 'look', output),
  ];
  return [user('Look.'), ...step('call_1', secret), ...step('call_2', 'short')];
}

/** Relative paths of all files below a directory. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort();
}

async function converse(
  compactor: Compactor,
  removalLogDirectory: string,
  conversationId: string,
  secret: string,
): Promise<void> {
  const options = {
    edits: 'every-turn',
    onError: 'throw',
    removalLogDirectory,
    maxConversations: 4,
  } as const;
  const compact = createMessageCompactor(compactor, PLAIN_MESSAGE_FORMAT, options);
  await compact(talk(secret), { conversationId });
}

describe('a conversation id', () => {
  it('leads to a file of its own in the directory, whatever it is', async () => {
    const { outer, inner } = temporaryDirectory();
    const compactor = openPruning();
    const ids = [...HOSTILE_IDS, 'a', 'session', 'escaped'];
    for (const [at, id] of ids.entries()) await converse(compactor, inner, id, `secret ${at}.`);
    await compactor.close();

    const files = filesBelow(outer);
    expect(files.map((file) => path.dirname(file))).toEqual(ids.map(() => 'a/b/c'));
    // Names must differ even on a file system that folds case or normalizes.
    const folded = files.map((file) => file.normalize('NFKC').toLowerCase());
    expect(new Set(folded).size).toBe(ids.length);
    for (const file of files) {
      expect(path.basename(file)).toMatch(/^[a-z0-9._-]{1,200}$/);
    }
    for (const [at, id] of ids.entries()) {
      const log = removalLogPathIn(inner, id);
      expect(readFileSync(log, 'utf8').match(/secret \d+\./g)).toEqual([`secret ${at}.`]);
      const { response } = await restore(log, 'call_1', { sessionId: id });
      expect(response.result).toBe(`secret ${at}.`);
    }
  });

  it('names the same file again after a restart', async () => {
    const { outer, inner } = temporaryDirectory();
    for (const round of [1, 2]) {
      const compactor = openPruning();
      for (const id of HOSTILE_IDS) await converse(compactor, inner, id, `round ${round}`);
      await compactor.close();
      expect(filesBelow(outer)).toHaveLength(HOSTILE_IDS.length);
    }
  });

  it('is never a path, for random ids', async () => {
    const { outer, inner } = temporaryDirectory();
    const compactor = openPruning();
    const part = fc.oneof(
      fc.constantFrom('..', '.', '/', '\\', '\0', ':', ' ', 'A', 'a', 'é', 'e\u0301', '\ud800'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    const id = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(id, async (given) => {
        fc.pre(given !== '');
        seen.add(given);
        await converse(compactor, inner, given, 'secret');
        const files = filesBelow(outer).filter((file) => !file.endsWith('.lock'));
        expect(new Set(files.map((file) => path.dirname(file)))).toEqual(new Set(['a/b/c']));
        expect(files).toHaveLength(seen.size);
      }),
      { numRuns: runs(400) },
    );
  });
});

describe('createSession', () => {
  it('names the file in a removalLogDirectory as adapters do', async () => {
    const { outer, inner } = temporaryDirectory();
    const sessionId = '../../escaped';
    await openPruning().createSession({ sessionId, removalLogDirectory: inner });
    expect(filesBelow(outer).map((file) => path.join(outer, file))).toContain(
      removalLogPathIn(inner, sessionId),
    );
  });

  // Records of such a session were written but could not be read.
  it.each([null, '', 7, 0, {}, ['s'], Symbol('s'), true])(
    'refuses %s as a session id',
    async (id) => {
      const { outer, inner } = temporaryDirectory();
      const options = { sessionId: id, removalLogDirectory: inner } as unknown as SessionOptions;
      await expect(openPruning().createSession(options)).rejects.toThrow(TypeError);
      expect(filesBelow(outer)).toEqual([]);
    },
  );

  it.each([
    { removalLogDirectory: '' },
    { removalLogDirectory: 7 },
    { removalLogDirectory: () => 'x' },
    { removalLogDirectory: 'x', removalLogPath: 'y' },
  ])('refuses %j', async (options) => {
    const creating = openPruning().createSession(options as unknown as SessionOptions);
    await expect(creating).rejects.toThrow(TypeError);
  });
});

describe('an adapter', () => {
  it('takes no function that makes paths of ids', () => {
    const options: object = { removalLogPath: (id: string) => `./transcripts/${id}.jsonl` };
    expect(() => createMessageCompactor(openPruning(), PLAIN_MESSAGE_FORMAT, options)).toThrow(
      /removalLogDirectory/,
    );
  });

  it.each(['', 7])('refuses %j as a conversation id', async (conversationId) => {
    const options = { onError: 'throw' } as const;
    const compact = createMessageCompactor(openPruning(), PLAIN_MESSAGE_FORMAT, options);
    await expect(
      compact(talk('x'), { conversationId: conversationId as unknown as string }),
    ).rejects.toThrow(TypeError);
  });
});
