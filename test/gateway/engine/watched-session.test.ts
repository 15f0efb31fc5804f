// What the log of a conversation's edits says of them.

import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WatchedSession } from '../../../src/gateway/engine/watched-session.js';
import type { Session } from '../../../src/main/session.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { listRuleEdits } from '../../../src/shared/density/plan/plan.js';

const human = (...texts: readonly string[]): IContent => ({
  speaker: 'human',
  blocks: texts.map((text): ContentBlock => ({ type: 'text', text })),
});

const included = (text: string): string => `--- a.ts ---\n${text}\n--- End of content ---\n`;

describe('WatchedSession', () => {
  it('gives the length of what is left of the edited text, not of another one beside it', () => {
    const words = 'Please look at these files.';
    const rest = 'This one matters most.\n';
    const history = [
      human(words, rest + included('one'), included('two')),
      human(included('three')),
    ];
    const { rows, replacements } = optimize(history, {
      ...DEFAULT_DENSITY_CONFIG,
      workspaceRoot: '/w',
    });
    const session = new EventEmitter();
    const watched = new WatchedSession(session as unknown as Session);
    const [before, after] = [history[0]!, replacements.get(0)!];
    session.emit('pruned', {
      edits: listRuleEdits(rows!, (entry) => history[entry]?.blocks),
      changes: [{ index: 0, before, after }],
    });
    expect(watched.takeEdits().map(({ rule, after: left }) => [rule, left])).toEqual([
      ['file-dedupe', rest.length],
      ['file-dedupe', 0],
    ]);
  });
});
