// What is posted of an entry: as little as possible, and enough for the same tokens and the same plan.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { postedPart } from '../../../src/main/offload/posted-entry.js';
import { carriesContent } from '../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { HistoryIndex } from '../../../src/shared/density/index/history-index.js';
import { scopeOfSession } from '../../../src/shared/density/index/index-scope.js';
import { planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { countEntryTokens } from '../../../src/shared/tokens/count-tokens.js';
import { arbitraryBrokenHistory } from '../../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { arbitraryWorkingHistory } from '../../support/arbitrary-working-history.js';
import { historyOf } from '../../support/notation.js';
import { countThirds } from '../../support/piece-counters.js';
import {
  arbitraryPassConfig,
  RESIDENT_AGENT,
  withReferencedFiles,
} from '../../support/resident-session.js';
import { runs } from '../../support/scale.js';

/** In every field that must not be posted. */
const SECRET = 'must not cross';

/** An entry with the secret in all opaque and unknown fields. */
function withSecrets(entry: IContent): IContent {
  const blocks = entry.blocks.map((block): ContentBlock => {
    const unknown = { ...block, providerMetadata: { unknown: SECRET } };
    if (unknown.type === 'media') return { ...unknown, data: SECRET };
    if (unknown.type === 'tool_call') return { ...unknown, description: SECRET };
    if (unknown.type !== 'thinking') return unknown;
    return { ...unknown, signature: SECRET, encryptedContent: SECRET, sourceField: SECRET };
  });
  const metadata = { ...entry.metadata, usage: SECRET, id: SECRET, [SECRET]: 1, timestamp: 7 };
  return { ...entry, blocks, metadata };
}

describe('postedPart', () => {
  it('omits metadata, media, opaque fields and unknown ones', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), (history) => {
        for (const entry of history) {
          const posted = postedPart(withSecrets(entry));
          expect(JSON.stringify(posted)).not.toContain(SECRET);
          expect(posted.metadata).toBeUndefined();
          expect(posted.blocks.length).toBe(entry.blocks.length);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it('keeps every field that tokens or plans depend on, and of others at most that they are there', () => {
    const blocks: readonly ContentBlock[] = [
      { type: 'text', text: 'a' },
      { type: 'code', code: 'a', language: 'ts' },
      { type: 'thinking', thought: 'a' },
      {
        ...{ type: 'tool_call', id: '1', name: 'a', parameters: { a: 1 } },
        ...{ parallelGroup: 'g', hasFixedParameters: true },
      },
      {
        ...{ type: 'tool_response', callId: '1', toolName: 'a', result: { a: 1 } },
        ...{ error: 'e', isComplete: false, mediaTokens: 7 },
      },
      { type: 'opaque', kind: 'a', tokens: 7, callId: '1' },
    ];
    expect(postedPart({ speaker: 'ai', blocks }).blocks).toEqual(blocks);
    const media = { type: 'media', mimeType: 'a/b', encoding: 'url', caption: 'c' } as const;
    const sealed = { type: 'thinking', thought: '', encryptedContent: SECRET } as const;
    expect(
      postedPart({ speaker: 'ai', blocks: [{ ...media, data: SECRET, filename: 'f' }, sealed] }),
    ).toEqual({
      speaker: 'ai',
      blocks: [
        { ...media, data: '', filename: 'f' },
        { ...sealed, encryptedContent: '' },
      ],
    });
  });

  it('keeps what marks a summary and what marks a synthetic entry', () => {
    for (const marks of [
      { isSummary: true },
      { synthetic: true },
      { isSummary: true, synthetic: true },
    ]) {
      const marked: IContent = { speaker: 'human', blocks: [], metadata: { ...marks, id: SECRET } };
      expect(postedPart(marked).metadata).toEqual(marks);
    }
  });

  it('leads to the same plans', () => {
    const some = fc.oneof(arbitraryHistory(), arbitraryBrokenHistory());
    const histories = fc.oneof(some, arbitraryWorkingHistory(some));
    fc.assert(
      fc.property(histories, arbitraryPassConfig(), (entries, settings) => {
        const history = withReferencedFiles(entries);
        const config = { ...settings, ...RESIDENT_AGENT };
        expect(planWithTexts(history.map(postedPart), config).plan).toEqual(
          planWithTexts(history, config).plan,
        );
      }),
      { numRuns: runs(500) },
    );
  });

  it('keeps the tokens and flags of results for the working set', () => {
    fc.assert(
      fc.property(arbitraryWorkingHistory(), (history) => {
        const [posted, whole] = [history.map(postedPart), history].map((entries) => {
          const index = new HistoryIndex(scopeOfSession(RESIDENT_AGENT));
          for (const entry of entries) index.append(entry);
          return [index.responses.tokens.toArray(), index.responses.flags.toArray()];
        });
        expect(posted).toEqual(whole);
      }),
      { numRuns: runs(300) },
    );
  });

  it('keeps type, tokens and paired call of an opaque block', () => {
    const [entry] = historyOf('a:&note(7),&approval(9)=r1');
    if (entry === undefined) throw new Error();
    expect(postedPart(withSecrets(entry)).blocks).toEqual(entry.blocks);
  });

  it('carries content exactly when the entry does', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), (history) => {
        for (const { speaker, blocks } of history) {
          const posted = postedPart({ speaker, blocks });
          expect(posted.blocks.map(carriesContent)).toEqual(blocks.map(carriesContent));
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it('keeps the tokens of media in a result', () => {
    const block = { type: 'tool_response', callId: 'a', toolName: 'shot', result: '' } as const;
    const entry: IContent = { speaker: 'tool', blocks: [{ ...block, mediaTokens: 1_600 }, block] };
    expect(postedPart(entry)).toStrictEqual(entry);
  });

  it('counts the same', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), (history) => {
        for (const entry of history) {
          const tokens = countEntryTokens(postedPart(entry), countThirds);
          expect(tokens).toBe(countEntryTokens(entry, countThirds));
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
