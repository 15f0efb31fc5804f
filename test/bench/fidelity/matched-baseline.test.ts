// Baselines send as many tokens as the policy that they are compared with, and remove results without regard to their use.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../bench/fidelity/measure.js';
import { matchedBaseline } from '../../../bench/fidelity/matched-baseline.js';
import { BASELINES, KEEP_ALL, POLICIES } from '../../../bench/fidelity/policies.js';
import type { Policy } from '../../../bench/fidelity/policy.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import { readTranscript } from '../../../src/transcripts.js';
import { PRUNED_POINTER } from '../../../src/density.js';
import type { IContent } from '../../../src/index.js';
import { shell, transcriptOf, user } from './support/made-session.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/transcripts');
const codex = path.join(FIXTURES, 'codex/jdx-mise__71-b56c467073-0.jsonl');
const session = recordSession(codex, await readTranscript(codex));

describe('matchedBaseline', () => {
  it.each(
    BASELINES.flatMap(
      ({ own, random, oldest }) =>
        [
          [random, own],
          [oldest, own],
        ] as const,
    ),
  )('$name sends about as many tokens', (baseline, own) => {
    const [tokens, target] = [baseline, own].map((policy) => measure(session, policy).tokens);
    expect(Math.abs(tokens! / target! - 1)).toBeLessThan(0.06);
  });

  it('sends everything if the policy keeps everything', () => {
    const same = measure(session, matchedBaseline('same', 'random', KEEP_ALL));
    expect(same.tokens).toBe(same.unpruned.tokens);
  });

  it.each([
    ['the oldest first', 'last 3 results', [true, false, false, false]],
    ['no result that the model has not been sent', 'nothing kept', [true, true, true, false]],
  ])('removes %s', (_, like, gone) => {
    const exchanges = ['1', '2', '3', '4'].map((id) => shell(id, 'run', 'x'.repeat(4_000)));
    const made = recordSession('made', transcriptOf(user('Go.'), ...exchanges));
    const nothing: Policy = { name: 'nothing kept', start: () => () => [] };
    const policy = [...POLICIES, nothing].find(({ name }) => name === like)!;
    const send = matchedBaseline('oldest', 'oldest', policy).start(made);
    const { entries } = made.transcript;
    let context: readonly IContent[] = send(entries.slice(0, 1));
    for (let at = 1; at < entries.length; at += 2) context = send(entries.slice(at, at + 2));
    const isGone = context
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (block.type === 'tool_response' ? block.result === PRUNED_POINTER : []));
    expect(isGone).toEqual(gone);
  });
});
