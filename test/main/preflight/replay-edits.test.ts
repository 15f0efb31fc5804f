// A session that has no state for what was sent before repeats its edits.

import { expect, it } from 'vitest';

import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';
import { openCompactor } from '../../support/open-compactor.js';

/** The output of a command: some lines of its own, and some that every third command prints as well. */
function outputOf(command: number): string {
  const own = Array.from({ length: 40 }, (_, at) => `step ${at} of job-${command} took a while`);
  const shared = Array.from({ length: 20 }, (_, at) => `the value of setting-${at} is unchanged`);
  return [...own, ...(command % 3 === 0 ? shared : [])].join('\n');
}

it('repeats edits that replace results only, and follows them apart from shrinking', async () => {
  const compactor = openCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const session = await compactor.createSession();
  const reasons = new Set<string>();
  session.on('pruned', ({ reason }) => reasons.add(reason));
  const added: IContent[] = [humanText('Run all jobs.')];
  let sent: readonly IContent[] = [];
  session.history.addAll(added);
  for (let at = 0; at < 80; at += 1) {
    const id = `call_${at}`;
    const turn = [
      aiContent([toolCall(id, 'run_shell_command', { command: `job-${at}` })]),
      toolContent([toolResponse(id, 'run_shell_command', outputOf(at))]),
    ];
    session.history.addAll(turn);
    added.push(...turn);
    await session.ensureCompressionBeforeSend('turn');
    sent = session.history.getAll();
  }
  const resumed = await compactor.createSession({ history: added });
  await resumed.ensureCompressionBeforeSend('first');
  expect([...reasons].sort()).toEqual(['reclaims-enough', 'unsent']);
  expect(JSON.stringify(resumed.history.getAll())).toBe(JSON.stringify(sent));
});
