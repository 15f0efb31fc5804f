// Folding a journal gives the same as a naive fold; and whatever a journal says, calls, results and reasoning come from the entries that it is folded over.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { sessionDefaults } from '../../../src/main/session-options.js';
import { Journal } from '../../../src/main/state/journal.js';
import { openState } from '../../../src/main/state/session-state.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { runSlices } from '../../../src/shared/slices.js';
import { foldJournal, isSendable } from '../../../src/shared/state/fold-journal.js';
import type { Fold } from '../../../src/shared/state/fold-journal.js';
import { readJournal } from '../../../src/shared/state/journal-record.js';
import type { JournalRecord } from '../../../src/shared/state/journal-record.js';
import { textOfBlock } from '../../../src/shared/state/canonical-text.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitrarySendableHistory } from '../../support/arbitrary-sendable-history.js';
import { arbitraryWorkingHistory } from '../../support/arbitrary-working-history.js';
import { foldNaively } from '../../support/naive-fold.js';
import { requestsOf } from '../../support/resumed-session.js';
import { runs } from '../../support/scale.js';

const { toolCatalog } = sessionDefaults(undefined).density;
const histories = arbitraryWorkingHistory(arbitrarySendableHistory({ maxEntries: 60 }));
const strategies = fc.constantFrom('high-density', 'top-down-truncation');
const limits = fc.constantFrom(1_500, 6_000, 200_000);

/** The journal of a session, and the history it ended with. */
async function played(
  history: readonly IContent[],
  strategy: 'high-density' | 'top-down-truncation',
  contextLimit: number,
): Promise<{ records: readonly JournalRecord[]; entries: readonly IContent[] }> {
  await using compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', contextLimit },
    settings: { 'compression.strategy': strategy },
  });
  const session = await compactor.createSession({ edits: 'batched', minReclaimTokens: 50 });
  for (const [at, entries] of requestsOf(history).entries()) {
    session.history.addAll(entries);
    // A history that cannot be made to fit stays unchanged.
    await session.ensureCompressionBeforeSend(`request ${at}`).catch(() => undefined);
  }
  const records = [...readJournal(openState(session.snapshot()).journal)];
  return { records, entries: session.history.getAll() };
}

function fold(raw: readonly IContent[], records: readonly JournalRecord[]): Fold {
  return runSlices(foldJournal(raw, raw.length, records, toolCatalog));
}

describe('foldJournal', () => {
  it('returns the same entries as the session and a naive fold', async () => {
    await fc.assert(
      fc.asyncProperty(histories, strategies, limits, async (history, strategy, limit) => {
        const { records, entries } = await played(history, strategy, limit);
        const folded = fold(structuredClone(history), records);
        expect(folded.isWhole).toBe(true);
        expect(folded.entries).toEqual(entries);
        expect(foldNaively(history, records, toolCatalog)).toEqual(entries);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('names a call that was answered before an earlier one of its answer like the session', async () => {
    const ids = ['a', 'b', 'c'];
    const text = Array.from({ length: 40 }, (_, at) => `row ${at} of ${at * 37} rows`).join('\n');
    const history = [
      humanText('go'),
      aiContent(ids.map((id) => toolCall(id, 'look', {}))),
      toolContent(
        ['b', 'a', 'c'].map((id) => toolResponse(id, 'look', id === 'c' ? 'nothing' : text)),
      ),
      aiContent([{ type: 'text', text: 'done' }]),
      humanText('go on'),
    ];
    const { records, entries } = await played(history, 'high-density', 200_000);
    expect(JSON.stringify(entries)).toContain('unchanged from the result of b');
    const folded = fold(structuredClone(history), records);
    expect(folded.isWhole).toBe(true);
    expect(folded.entries).toEqual(entries);
  });

  it('takes only summaries from a forged journal', async () => {
    const forgery = fc.record({
      record: fc.nat(),
      row: fc.nat(),
      column: fc.nat(5),
      value: fc.integer({ min: -2, max: 40 }),
    });
    const forgeries = fc.array(forgery, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(histories, strategies, forgeries, async (history, strategy, changes) => {
        const { records } = await played(history, strategy, 1_500);
        const raw = structuredClone(history);
        const folded = fold(raw, forge(records, changes));
        if (!runSlices(isSendable(folded, raw))) return;
        const known = new Set(raw.flatMap(({ blocks }) => blocks.map(textOfBlock)));
        for (const block of folded.entries.flatMap(({ blocks }) => blocks)) {
          const isTaken = block.type === 'thinking' || block.type === 'media';
          if (isTaken) expect(known.has(textOfBlock(block))).toBe(true);
          if (block.type !== 'tool_response' && block.type !== 'tool_call') continue;
          const id = block.type === 'tool_call' ? block.id : block.callId;
          const isThere = raw.some(({ blocks }) =>
            blocks.some((other) =>
              'id' in other ? other.id === id : 'callId' in other && other.callId === id,
            ),
          );
          expect(isThere).toBe(true);
        }
        const pairing = (list: readonly IContent[]): number =>
          findViolations(list).filter(({ rule }) => /call|response/.test(rule)).length;
        expect(pairing(folded.entries)).toBeLessThanOrEqual(pairing(raw));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('stops in front of a result that would be different now', async () => {
    let seen = 0;
    let ended = 0;
    for (const history of fc.sample(histories, { numRuns: runs(60), seed: 3 })) {
      const { records } = await played(history, 'high-density', 200_000);
      const isMade = (record: JournalRecord): boolean =>
        record.kind === 'rows' && record.checksums.length > 0;
      const made = records.findIndex(isMade);
      if (made === -1) continue;
      seen += 1;
      const changed = records.map((record): JournalRecord =>
        record.kind === 'rows'
          ? { ...record, checksums: record.checksums.map((checksum) => checksum ^ 1) }
          : record,
      );
      const folded = fold(history, changed);
      const { followed, isWhole, entries } = folded;
      if (!isWhole) ended += 1;
      // A result that a later record removes is not made, and need not be.
      if (isWhole) expect(entries).toEqual(fold(history, records).entries);
      else expect(followed.length).toBeGreaterThanOrEqual(made);
      expect(entries).toEqual(foldNaively(history, followed, toolCatalog));
    }
    expect(seen).toBeGreaterThan(0);
    expect(ended).toBeGreaterThan(0);
  });
});

/** An endless session: each time, a summary of `size` characters replaces the former one and what came since. */
function summarizedOver(times: number, size: number) {
  const journal = new Journal();
  const raw: IContent[] = [];
  let list: IContent[] = [];
  for (let at = 0; at < times; at += 1) {
    const entries = [humanText(`asked ${at}`), humanText(`answered ${at}`)];
    for (const entry of entries) journal.add(entry);
    raw.push(...entries);
    list.push(...entries);
    const next = [humanText(`summary ${at} `.padEnd(size, 's')), ...list.slice(-1)];
    journal.noteRewrite(raw.length, list, next);
    list = next;
  }
  const { bytes, texts } = journal.packed;
  return { raw, list, texts, records: [...readJournal({ bytes, texts })] };
}

describe('Journal', () => {
  it('keeps the newest 32,768 characters of replaced summaries', () => {
    const { raw, list, texts, records } = summarizedOver(500, 1_000);
    const whole = texts.filter((text) => text.length > 1_000);
    const characters = whole.slice(0, -1).reduce((sum, text) => sum + text.length, 0);
    expect(characters).toBeGreaterThan(32_768 - 1_200);
    expect(characters).toBeLessThanOrEqual(32_768);
    expect(texts).toHaveLength(500);
    expect(fold(raw, records)).toMatchObject({ isWhole: true, entries: list });
  });

  it('continues from before the first summary that was not kept, if a later place is not known', () => {
    const { raw, records } = summarizedOver(60, 1_000);
    // Unchanged entries; the first 28 summaries are not kept.
    const foldUpTo = (known: number): Fold =>
      runSlices(foldJournal(raw, known, records, toolCatalog));
    expect(foldUpTo(2 * 40).followed).toHaveLength(40);
    expect(foldUpTo(2 * 40).entries).toEqual(foldNaively(raw, records.slice(0, 40), toolCatalog));
    expect(foldUpTo(2 * 20)).toMatchObject({ isWhole: false, followed: [], entries: raw });
  });

  it('stops at a summary that was not kept if its number of blocks is forged', () => {
    const { raw, records } = summarizedOver(3, 10);
    for (const blocks of [-1, 1e9, 0.5, NaN]) {
      const forged = records.map((record): JournalRecord => {
        if (record.kind !== 'splice') return record;
        return { ...record, pieces: [{ kind: 'written', entry: blocks }] };
      });
      expect(fold(raw, forged)).toMatchObject({ isWhole: false, entries: raw });
    }
  });
});

function forge(
  records: readonly JournalRecord[],
  changes: readonly { record: number; row: number; column: number; value: number }[],
): readonly JournalRecord[] {
  const forged = structuredClone(records) as JournalRecord[];
  for (const { record, row, column, value } of changes) {
    const chosen = forged[record % Math.max(1, forged.length)];
    if (chosen?.kind === 'rows' && chosen.rows.length > 0) {
      chosen.rows[(row * 6 + column) % chosen.rows.length] = value;
    } else if (chosen?.kind === 'splice' && chosen.pieces.length > 0) {
      const at = row % chosen.pieces.length;
      const entry = {
        speaker: 'ai' as const,
        blocks: [{ type: 'tool_call' as const, id: 'forged', name: 'run', parameters: {} }],
      };
      const pieces = [...chosen.pieces];
      pieces[at] =
        column > 2
          ? { kind: 'written', entry }
          : { kind: 'stay', skipped: Math.max(0, value), kept: 1 };
      forged[record % forged.length] = { ...chosen, pieces };
    }
  }
  return forged;
}
