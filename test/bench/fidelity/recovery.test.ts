// The outcome of a need, by what a policy keeps.

import { describe, expect, it } from 'vitest';
import { measure } from '../../../bench/fidelity/measure.js';
import type { Policy } from '../../../bench/fidelity/policy.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import { PRUNED_POINTER } from '../../../src/density.js';
import type { ContentBlock, IContent } from '../../../src/index.js';
import { exchange, read, says, shell, transcriptOf, user } from './support/made-session.js';

/** A policy that sends each block as the function returns it; `undefined` omits it. */
function changing(change: (block: ContentBlock) => ContentBlock | undefined): Policy {
  return {
    name: 'made',
    start: () => {
      const history: IContent[] = [];
      return (added) => {
        for (const entry of added) {
          const blocks = entry.blocks.flatMap((block) => change(block) ?? []);
          history.push({ ...entry, blocks });
        }
        return history;
      };
    },
  };
}

function resultBecomes(result: string): Policy {
  return changing((block) => (block.type === 'tool_response' ? { ...block, result } : block));
}

const EDIT = { file_path: '/a.ts', old_string: 'const a = 1;', new_string: 'b' };

/** The outcome of the only edit, of text that only the read or the command showed. */
function outcomeOf(policy: Policy, source: readonly IContent[]): object {
  const edit = exchange('edit', 'Edit', EDIT, 'replaced');
  const transcript = transcriptOf(user('Go.'), source, edit, says('Done.'));
  return measure(recordSession('made', transcript), policy).needs.edit;
}

const READ = read('read', '/a.ts', 'const a = 1;');
const SHELL = shell('shell', 'cat "a b.ts" | head', 'const a = 1;');

describe('outcomes of needs', () => {
  it.each([
    ['in view where the result stands', changing((block) => block), READ, 'inView'],
    ['in view where an excerpt shows the line', resultBecomes('… const a = 1; …'), READ, 'inView'],
    [
      'recoverable where the call names the path',
      resultBecomes(PRUNED_POINTER),
      READ,
      'recoverable',
    ],
    ['recoverable where it names the command', resultBecomes(PRUNED_POINTER), SHELL, 'recoverable'],
    [
      'lost if call and result are removed',
      changing((block) =>
        block.type === 'tool_call' || block.type === 'tool_response' ? undefined : block,
      ),
      READ,
      'lost',
    ],
    [
      'lost where the call keeps no parameters',
      changing((block) => {
        if (block.type === 'tool_call') return { ...block, parameters: {} };
        return block.type === 'tool_response' ? { ...block, result: PRUNED_POINTER } : block;
      }),
      READ,
      'lost',
    ],
    [
      'recoverable where a line in place of both names the id',
      changing((block) => {
        if (block.type === 'tool_call') return { ...block, parameters: {} };
        return block.type === 'tool_response'
          ? { ...block, result: 'gone; recall("read")' }
          : block;
      }),
      READ,
      'recoverable',
    ],
  ] as const)('are %s', (_, policy, source, outcome) => {
    const none = { inView: 0, recoverable: 0, lost: 0 };
    expect(outcomeOf(policy, source)).toEqual({ ...none, [outcome]: 1 });
  });

  it('are lost for removed words of the user', () => {
    const transcript = transcriptOf(user('Keep it short.'), says('Yes.'), says('Done.'));
    const gone = changing((block) =>
      block.type === 'text' && block.text.startsWith('Keep') ? undefined : block,
    );
    const { needs } = measure(recordSession('made', transcript), gone);
    expect(needs.words).toEqual({ inView: 0, recoverable: 0, lost: 1 });
  });
});
