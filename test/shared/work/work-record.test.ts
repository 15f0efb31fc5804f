// What is recorded from removed entries: words of the user, files, commands, denials.

import { describe, expect, it } from 'vitest';

import { KNOWN_TOOL_CATALOG } from '../../../src/main/formats/known-tools.js';
import { aiContent, humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from '../../../src/shared/density.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';
import { gatherWork, NO_WORK } from '../../../src/shared/work/work-record.js';
import { excerptOf } from '../../support/excerpt-of.js';
import { bash, call, done, edit, gather, OK } from '../../support/gathered-work.js';

/** Output of a failing command, long enough for an excerpt. */
const FAILING = `${'src/main/some-module.ts is compiled\n'.repeat(40)}make: Error 2\nexit code: 2`;

const PASSING = `${'src/main/some-module.ts is compiled\n'.repeat(40)}all of it is deployed`;

const GONE = '[Bash: gh run list -s "exit code 1" — success, 3 lines]';

describe('gatherWork', () => {
  it("records only the user's answers from shortened entries", () => {
    const history = [
      ...call('AskUserQuestion', {}, 'Never the red one.'),
      ...bash('npm test', 'ok'),
      ...edit('a.ts'),
    ];
    const { callOf } = outlineHistory(history);
    const from = { history, callOf, toolCatalog: KNOWN_TOOL_CATALOG, earlier: NO_WORK };
    const record = gatherWork({ ...from, fateOf: () => 'shortened' });
    expect(record).toEqual({ ...NO_WORK, userWords: ['Never the red one.'] });
    expect(gatherWork({ ...from, fateOf: () => 'kept' })).toEqual(NO_WORK);
  });

  it('records what the lines in place of results do not show: what was made, and what was denied', () => {
    const refund = { order_id: 'ord_9', amount: 1999 };
    const denial = 'The tool use was rejected. The user said: legal looks at it';
    const history = [
      ...call('create_refund', refund, { refund: { id: 're_1' } }),
      ...call('update_ticket', { ticket_id: 7, status: 'open' }, denial),
      ...call('get_order', { order_id: 'ord_9' }, { id: 'ord_9' }),
      ...call('add_note', { ticket_id: 7, note: 'x'.repeat(200) }, 'it is noted'),
      ...call('bulk_tag', { ids: [7, 8] }, { updated: 1, failed: 1 }),
    ];
    const from = { callOf: outlineHistory(history).callOf, toolCatalog: KNOWN_TOOL_CATALOG };
    const shortened = gatherWork({ history, ...from, fateOf: () => 'shortened', earlier: NO_WORK });
    const expected = {
      'create_refund order_id: ord_9, amount: 1999 → {"id":"re_1"}': 'answered',
      'update_ticket ticket_id: 7, status: open — the user said: legal looks at it': 'denied',
      'add_note ticket_id: 7 → it is noted': 'answered',
      'bulk_tag ids: 7, 8 → {"updated":1,"failed":1}': 'answered',
    };
    expect(Object.fromEntries(shortened.done)).toEqual(expected);
    const lines = history.map((entry, index) => summarizeEntry(entry, index, from.callOf));
    expect(Object.fromEntries(gather(lines, shortened).done)).toEqual(expected);
  });

  it('records what runs beside a read or a search', () => {
    expect(
      done(
        bash('cat package.json && npm publish', 'version 2 is published'),
        bash('cd web && ls && npm run deploy', 'all of it is deployed'),
        bash('cat a.ts; git status', 'clean'),
        bash('cat a.ts | head -5 && ls', 'a'),
      ),
    ).toEqual({
      'cat package.json && npm publish → version 2 is published': 'answered',
      'cd web && ls && npm run deploy → all of it is deployed': 'answered',
    });
  });

  it('claims no write of a command that could not open the file', () => {
    const failing = bash('echo a > /etc/a', 'bash: /etc/a: Permission denied');
    expect(done(failing)).toEqual({
      'echo a > /etc/a → bash: /etc/a: Permission denied': 'answered',
    });
    expect(done(bash('echo a > /w/a', ''))).toEqual({ 'write /w/a': 'written' });
  });

  it('tells files of different machines apart', () => {
    const write = (host: string, result: string): IContent[] =>
      call('write_file', { host, path: '/w/a', content: 'a' }, result);
    const answers = [write('one', 'Wrote 1 line.'), write('two', 'Error: the disk is full')];
    expect(done(...answers)).toEqual({
      'write /w/a [host=one]': 'written',
      'write /w/a [host=two]': 'failed',
    });
    expect(done(...answers, call('run_command', { host: 'two', command: 'rm /w/a' }, ''))).toEqual({
      ...done(...answers.slice(0, 1)),
      'rm /w/a [host=two]': 'answered',
    });
  });

  it('takes a file of Windows for the same one, with either kind of slash', () => {
    const { raw } = String;
    const edited = edit(raw`C:\w\a.ts`);
    const write = raw`Set-Content -Path "C:\w\a.ts" -Value $text`;
    const denied = raw`Set-Content : Access to the path 'C:\w\a.ts' is denied.`;
    expect(done(edited, bash(write, ''))).toEqual({ 'write C:/w/a.ts': 'written' });
    expect(done(bash(write, denied))).not.toHaveProperty('write C:/w/a.ts');
    const redirected = raw`out-file : Access to the path 'C:\w\a.ts' is denied.`;
    expect(done(bash(raw`echo x > C:\w\a.ts`, redirected))).not.toHaveProperty('write C:/w/a.ts');
    expect(done(bash('./fetch > b.txt', 'Content-Type: text/html'))).toEqual({
      'write b.txt': 'written',
    });
    // Serverless has the name of an alias of PowerShell.
    expect(done(bash('sls deploy', 'ok'))).toEqual({ 'sls deploy': 'answered' });
    expect(done(edited, bash('Remove-Item C:/w/a.ts', ''))).toEqual({
      'Remove-Item C:/w/a.ts': 'answered',
    });
    expect(done(bash(raw`Get-ChildItem C:\w; Test-Path a.ts`, 'True'))).toEqual({});
    const patch = { input: '*** Begin Patch\n*** Delete File: C:\\w\\a.ts\n*** End Patch' };
    expect(done(edited, call('apply_patch', patch, 'Done!'))).toEqual({
      [raw`delete C:\w\a.ts`]: 'passed',
    });
    const failed = edit('C:/w/a.ts', 'no match');
    const pruned = call('Edit', { file_path: raw`C:\w\a.ts` }, PRUNED_POINTER);
    expect(done(failed, pruned)).toEqual({
      'write C:/w/a.ts': 'failed',
    });
  });

  it.each<[command: string, isGone: boolean]>([
    ['git commit -m "Split it\n\nMove /w/a.ts out of the way"', false],
    ['git add -A && git commit -m "Ren /w/a.ts"', false],
    ['cd x & move /w/a.ts b.ts', true],
    ['del /w/a.ts', true],
    ['cd x\nMove-Item /w/a.ts b.ts', true],
    ['cd x\nmv /w/a.ts b.ts', true],
  ])('%s', (command, isGone) => {
    const names = Object.keys(done(edit('/w/a.ts'), bash(command, '')));
    expect(names.includes('write /w/a.ts')).toBe(!isGone);
  });

  it.each(['git reset --hard', 'git reset -q HEAD~1 --hard', 'git stash', 'git checkout -- .'])(
    'records no files written before %s',
    (command) => {
      const run = bash(command, '');
      const kept = done(edit('/w/a.ts'), run, edit('/w/b.ts'));
      expect(Object.keys(kept).filter((name) => name.startsWith('write '))).toEqual([
        'write /w/b.ts',
      ]);
    },
  );

  it.each(['git stash pop', 'git stash list', 'git reset a.ts', 'git checkout main'])(
    'records files written before %s',
    (command) => {
      expect(done(edit('/w/a.ts'), bash(command, ''))).toHaveProperty(['write /w/a.ts'], 'written');
    },
  );

  it('records no command that only showed something, unless it failed', () => {
    expect(
      done(
        bash('kubectl get pods', 'a 1/1 Running'),
        bash('kubectl apply -f a.yaml', 'a is configured'),
        bash('journalctl -u a', 'exit code: 1'),
        bash('git status', 'fatal: no repository\nexit code: 128'),
        bash('git status', 'clean'),
      ),
    ).toEqual({
      'kubectl apply -f a.yaml → a is configured': 'answered',
      'journalctl -u a': 'failed',
    });
  });

  it('quotes the result if no code states the outcome, or not that of everything that ran', () => {
    const refund = { order_id: 'ord_9' };
    const failed = { output: '9 passed, 2 failed', exit_code: 0 };
    expect(
      done(
        call('create_refund', refund, 'Refund refused: the order is too old'),
        call('create_order', refund, { id: 'ord_9', status: 'failed' }),
        bash('npm test | tail', failed),
        bash('npm run build; npm run lint', { output: 'all is linted', exit_code: 0 }),
        bash('cp a b', 'cp: a: No such file or directory'),
        bash('gh pr create', 'https://github.com/a/b/pull/12\n'),
        call(
          'merge_pull_request',
          { number: 1 },
          '{"message":"no","documentation_url":"https://d"}',
        ),
        bash('make', { output: 'all is made', exit_code: 0 }),
        bash('make all | tail', { output: 'make: *** [all] Error 2', exit_code: 2 }),
      ),
    ).toEqual({
      'create_refund ord_9 → Refund refused: the order is too old': 'answered',
      'create_order ord_9 → {"status":"failed"}': 'answered',
      'npm test | tail → 9 passed, 2 failed': 'answered',
      'npm run build; npm run lint → all is linted': 'answered',
      'cp a b → cp: a: No such file or directory': 'answered',
      'gh pr create → https://github.com/a/b/pull/12': 'answered',
      'merge_pull_request number: 1 → {"message":"no","documentation_url":"https://d"}': 'answered',
      make: 'passed',
      'make all | tail': 'failed',
    });
    const written = 'The file a.py has been edited. It reads: raise Error("it cannot")';
    expect(done(call('Edit', { file_path: 'a.py', old_string: 'a' }, written))).toEqual({
      'write a.py': 'written',
    });
  });

  it('records an edit that reports its failure, even if the line in its place does not', () => {
    const failing = call('Edit', { file_path: 'a.ts', old_string: 'a' }, 'Not found in file.');
    for (const [history, expected, latest = expected] of [
      [failing, 'failed'],
      [[...failing, ...edit('a.ts')], 'written'],
      [[...edit('a.ts'), ...failing], 'written', 'failed'],
    ] as const) {
      const from = { callOf: outlineHistory(history).callOf, toolCatalog: KNOWN_TOOL_CATALOG };
      const ahead = gatherWork({ ...from, history, fateOf: () => 'shortened', earlier: NO_WORK });
      const lines = history.map((entry, index) => summarizeEntry(entry, index, from.callOf));
      expect(Object.fromEntries(gather(lines, ahead).done)).toEqual({ 'write a.ts': latest });
      expect(Object.fromEntries(gather(history).done)).toEqual({ 'write a.ts': expected });
    }
  });

  it('records no command that only shows something, whatever it has shown', () => {
    const log = `${'GET /a 200\n'.repeat(40)}ERROR: the payment was refused`;
    const shown = ['tail -n 41 app.log', 'kubectl logs api-0', 'make'].flatMap((command) =>
      bash(command, log),
    );
    expect(Object.fromEntries(gather(shown).done)).toEqual({
      'make → ERROR: the payment was refused': 'answered',
    });
    const { callOf } = outlineHistory(shown);
    const lines = shown.map((entry, index) => summarizeEntry(entry, index, callOf));
    expect(Object.fromEntries(gather(lines).done)).toEqual({ make: 'answered' });
  });

  it('quotes the first failure before the end, unless that counts them', () => {
    const failing = `--- FAIL: TestA (0.00s)\n${'ok  \tshop/cart\t0.01s\n'.repeat(90)}`;
    expect(done(bash('go test ./...', failing))).toEqual({
      'go test ./... → --- FAIL: TestA (0.00s) … ok shop/cart 0.01s': 'answered',
    });
    const counted = `FAIL test/a.test.ts\n${'a plain line of it\n'.repeat(90)}2 failed | 12 passed`;
    expect(done(bash('npm test', counted))).toEqual({
      'npm test → 2 failed | 12 passed': 'answered',
    });
  });

  it('records what the user said, and no synthetic text', () => {
    const history = [
      humanText('Build it.\nAnd test it.'),
      humanText('<rules>', { synthetic: true }),
      humanText('so far', { isSummary: true }),
      humanText('  '),
      aiContent('I will never stop.'),
      humanText('No, the other one.'),
    ];
    expect(gather(history).userWords).toEqual(['Build it.\nAnd test it.', 'No, the other one.']);
  });

  it('records what the user answered through a tool, unless that was denied or removed', () => {
    const ask = (result: unknown, error?: string): IContent[] =>
      call('AskUserQuestion', { questions: [{ question: 'Which?' }] }, result, error);
    const denial = "The user doesn't want to proceed with this tool use.";
    const { userWords, done: outcomes } = gather([
      humanText('Build it.'),
      ...ask('User has answered: "Which?"="The blue one, never the red one."'),
      ...ask([{ type: 'text', text: 'The green one.' }]),
      ...ask(PRUNED_POINTER),
      ...ask(denial),
      ...ask('', denial),
    ]);
    expect(userWords).toEqual([
      'Build it.',
      'User has answered: "Which?"="The blue one, never the red one."',
      'The green one.',
    ]);
    expect([...outcomes.values()]).toEqual(['denied']);
  });

  it('continues from the earlier record', () => {
    const earlier = {
      ...NO_WORK,
      userWords: ['first'],
      lostUserWords: 2,
      done: new Map([['npm test', 'failed']] as const),
    };
    expect(gather([humanText('second'), ...bash('npm test', OK)], earlier)).toEqual({
      userWords: ['first', 'second'],
      lostUserWords: 2,
      done: new Map([['npm test', 'passed']]),
      lostDone: {},
    });
  });

  it.each<[string, readonly IContent[][], Record<string, string>]>([
    ['a command that succeeded', [bash('npm test', OK)], { 'npm test': 'passed' }],
    ['one with an error', [bash('npm test', '', 'Exit code 1')], { 'npm test': 'failed' }],
    [
      'one that prints its exit code',
      [bash('make', 'x\nProcess exited with code 2')],
      { make: 'failed' },
    ],
    ['one whose code is data', [bash('make', { output: 'x', exit_code: 2 })], { make: 'failed' }],
    [
      'one whose code is data in a text',
      [bash('make', '{"output":"x","metadata":{"exit_code":1}}')],
      { make: 'failed' },
    ],
    [
      'one with its code in parts, or in a field',
      [
        bash('make', [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'Exit code: 2' },
        ]),
        bash('run', { content: [{ type: 'text', text: 'Exit code: 2' }] }),
        bash('try', { stdout: 'x.c:1:2: error: expected ;' }),
      ],
      {
        make: 'failed',
        run: 'failed',
        'try → x.c:1:2: error: expected ;': 'answered',
      },
    ],
    ['an exit code of zero', [bash('make', 'Exit Code: 0\nfailed to warn')], { make: 'passed' }],
    ['one that timed out', [bash('make', 'command timed out after 120 s')], { make: 'failed' }],
    ['a failure that is data', [bash('make', { output: 'x', isError: true })], { make: 'failed' }],
    ['one that could not be run', [bash('make', { success: false })], { make: 'failed' }],
    [
      'the output if no code states the outcome',
      [
        bash('make', OK),
        bash('make', 'x.c:1:2: error: expected ;'),
        bash('foo', 'foo: command not found'),
      ],
      {
        'make → x.c:1:2: error: expected ;': 'answered',
        'foo → foo: command not found': 'answered',
      },
    ],
    [
      'that a command ran whose output was pruned',
      [bash('make', PRUNED_POINTER)],
      { make: 'answered' },
    ],
    [
      'what a line in place of its output states',
      [
        bash('make', '[Bash: make — success, 2 lines]'),
        bash('git push', '[Bash: git push — error, 2 lines]'),
      ],
      { make: 'answered', 'git push': 'failed' },
    ],
    [
      'what an excerpt states, and what it quotes',
      [
        bash('make', excerptOf(FAILING, PRUNED_POINTER)),
        bash('deploy', excerptOf(PASSING, REMOVED_POINTER)),
      ],
      { make: 'failed', 'deploy → all of it is deployed': 'answered' },
    ],
    ['one with an error, though pruned', [bash('make', PRUNED_POINTER, 'no')], { make: 'failed' }],
    [
      'no outcome from before a pruned one',
      [bash('make', '', 'no'), bash('make', PRUNED_POINTER)],
      { make: 'answered' },
    ],
    ['none that is still running', [bash('make', 'Process running with session ID 7')], {}],
    ['the latest outcome', [bash('make', '', 'no'), bash('make', OK)], { make: 'passed' }],
    ['the latest failure', [bash('make', OK), bash('make', '', 'no')], { make: 'failed' }],
    [
      'the latest words',
      [bash('make', 'it is made'), bash('make', 'it is old')],
      { 'make → it is old': 'answered' },
    ],
    [
      'no command that only looks',
      [bash('cat a.ts', 'text'), bash('grep -r x src/a', '', 'none')],
      {},
    ],
    [
      'files written',
      [edit('/w/a.ts'), edit('/w/b.ts')],
      { 'write /w/a.ts': 'written', 'write /w/b.ts': 'written' },
    ],
    [
      'a file that a command writes',
      [bash('echo x > out.txt', '')],
      { 'write out.txt': 'written' },
    ],
    ['an edit that failed', [edit('/w/a.ts', 'no match')], { 'write /w/a.ts': 'failed' }],
    [
      'an edit whose result says that it failed',
      [
        call(
          'Edit',
          { file_path: '/w/a.ts' },
          '<tool_use_error>String not found.</tool_use_error>',
        ),
        call('replace_in_file', { path: '/w/b.ts' }, 'No replacement was performed: no match'),
        call(
          'apply_patch',
          { input: '*** Begin Patch\n*** Update File: d.ts\n@@\n-x\n+y\n*** End Patch' },
          'apply_patch verification failed: Failed to find expected lines in d.ts',
        ),
        call('edit', { filePath: '/w/e.ts' }, 'Found multiple matches for oldString.'),
        call('edit', { path: '/w/f.ts' }, 'Found 2 occurrences of the text. It must be unique.'),
        call('Edit', { file_path: '/w/g.ts' }, 'Found 3 matches, but replace_all is false.'),
        call('Write', { file_path: '/w/failed.ts' }, 'failed.ts: 2 replacements made, no errors'),
        call('Write', { file_path: '/w/not-found.ts' }, 'Wrote /w/not-found.ts'),
        call('Write', { file_path: '/w/c.ts' }, "Updated. It is now:\n1\tthrow 'not found'"),
      ],
      {
        'write /w/a.ts': 'failed',
        'write /w/b.ts': 'failed',
        'write d.ts': 'failed',
        'write /w/e.ts': 'failed',
        'write /w/f.ts': 'failed',
        'write /w/g.ts': 'failed',
        'write /w/failed.ts': 'written',
        'write /w/not-found.ts': 'written',
        'write /w/c.ts': 'written',
      },
    ],
    [
      'no removed file as written',
      [
        edit('a.ts'),
        bash('git checkout -- a.ts', ''),
        edit('b.ts'),
        call(
          'apply_patch',
          {
            input:
              '*** Begin Patch\n*** Delete File: b.ts\n*** Update File: c.ts\n*** Move to: d.ts\n@@\n-x\n*** End Patch',
          },
          'Done!',
        ),
      ],
      {
        'git checkout -- a.ts': 'answered',
        'delete b.ts': 'passed',
        'delete c.ts': 'passed',
        'write d.ts': 'written',
      },
    ],
    [
      'no failure of a file after a success',
      [edit('/w/a.ts'), edit('/w/a.ts', 'no match')],
      { 'write /w/a.ts': 'written' },
    ],
    [
      'an edit that succeeded in the end',
      [edit('/w/a.ts', 'no'), edit('/w/a.ts')],
      { 'write /w/a.ts': 'written' },
    ],
    [
      'a call that was denied',
      [bash('rm -rf x', '', "The user doesn't want to proceed with this tool use.")],
      { 'rm -rf x': 'denied' },
    ],
    [
      'a denial as a result',
      [edit('/w/a.ts', 'Tool execution was not approved.')],
      { 'Edit /w/a.ts': 'denied' },
    ],
    ...[
      '[Operation Cancelled] Reason: User did not allow tool call',
      'Permission to use Bash with command rm -rf x has been denied.',
      "Claude requested permissions to use Bash, but you haven't granted it yet.",
      'This command requires approval',
      'The user chose to skip the tool call',
      'The user has specified a rule which prevents you from using this specific tool call.',
      'Blocked by security policy',
    ].map(
      (text) =>
        [
          `a denial in the words of an agent: ${text}`,
          [bash('rm -rf x', text), bash('rm -rf y', '', text)],
          { 'rm -rf x': 'denied', 'rm -rf y': 'denied' },
        ] satisfies [string, readonly IContent[][], Record<string, string>],
    ),
    [
      'a command that the user has stopped',
      [bash('make', 'aborted by user after 3.2s')],
      { make: 'failed' },
    ],
    [
      'what the user said with a denial',
      [
        bash(
          'rm x',
          '',
          "The user doesn't want to proceed with this tool use. The user said:\ngit rm it",
        ),
        call(
          'execute_command',
          { command: 'rm y' },
          'The user denied this operation and provided the following feedback:\n<feedback>\nkeep y\n</feedback>',
        ),
        bash('rm x', OK),
      ],
      {
        'rm x': 'passed',
        'rm x — the user said: git rm it': 'denied',
        'rm y — the user said: keep y': 'denied',
      },
    ],
    [
      'no denial that a long text mentions',
      [call('Read', { file_path: 'a.md' }, `denied by the user\n${'x'.repeat(2_000)}`)],
      {},
    ],
    [
      'no exit code mentioned in a command whose output was removed',
      [call('Bash', { command: 'gh run list -s "exit code 1"' }, GONE)],
      {},
    ],
    [
      'a permission that a program lacks',
      [bash('make', '', 'open: permission denied')],
      { make: 'failed' },
    ],
    [
      'a denied call that was allowed later',
      [bash('make', '', 'denied by the user'), bash('make', OK)],
      { make: 'passed' },
    ],
    [
      'no reads and searches',
      [call('Read', { file_path: 'a.ts' }, 'text'), call('Grep', { pattern: 'x' }, '')],
      {},
    ],
    [
      'unknown tools only when denied',
      [call('browse', { url: 'x' }, 'ok'), call('browse', { url: 'y' }, '', 'rejected by user')],
      { 'browse y': 'denied' },
    ],
  ])('notes %s', (_, entries, expected) => {
    expect(done(...entries)).toEqual(expected);
  });

  it('reads nothing that stays', () => {
    const history = [humanText('one'), ...bash('make', 'ok'), humanText('two')];
    const { callOf } = outlineHistory(history);
    const record = gatherWork({
      history,
      fateOf: (entry) => (entry === history[3] ? 'removed' : 'kept'),
      callOf,
      earlier: NO_WORK,
    });
    expect(record).toEqual({ ...NO_WORK, userWords: ['two'] });
  });

  it('shortens long names in the middle', () => {
    const [name = ''] = gather(bash(`echo ${'x'.repeat(500)} | sh run-a.sh`, 'ok')).done.keys();
    expect(name.length).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^echo xxx.*…x*.*run-a\.sh$/);
  });
});
