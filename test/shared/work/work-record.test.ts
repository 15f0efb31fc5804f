// What is gathered from entries that leave: words of the user, files, commands, denials.

import { describe, expect, it } from 'vitest';

import { KNOWN_TOOL_CATALOG } from '../../../src/main/formats/known-tools.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from '../../../src/shared/density.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';
import { gatherWork, NO_WORK } from '../../../src/shared/work/work-record.js';
import type { WorkRecord } from '../../../src/shared/work/work-record.js';
import { excerptOf } from '../../support/excerpt-of.js';

function gather(history: readonly IContent[], earlier: WorkRecord = NO_WORK): WorkRecord {
  const { callOf } = outlineHistory(history);
  const toolCatalog = KNOWN_TOOL_CATALOG;
  return gatherWork({ history, fateOf: () => 'removed', callOf, toolCatalog, earlier });
}

let calls = 0;
function call(tool: string, parameters: unknown, result: unknown, error?: string): IContent[] {
  const id = `c${(calls += 1)}`;
  return [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, result, error)]),
  ];
}

const bash = (command: string, result: unknown, error?: string): IContent[] =>
  call('Bash', { command }, result, error);
const edit = (path: string, error?: string): IContent[] =>
  call('Edit', { file_path: path, old_string: 'a', new_string: 'b' }, 'done', error);

function done(...entries: readonly IContent[][]): Record<string, string> {
  return Object.fromEntries(gather(entries.flat()).done);
}

/** Output of a failing command, long enough for an excerpt. */
const FAILING = `${'src/main/some-module.ts is compiled\n'.repeat(40)}make: Error 2\nexit code: 2`;

const PASSING = `${'src/main/some-module.ts is compiled\n'.repeat(40)}all of it is deployed`;

describe('gatherWork', () => {
  it('tells what tools of other kinds did, so that it is not done twice', () => {
    const order = { order_id: 'ord_9', amount: 1999 };
    const refunded = { refund: { id: 're_1', status: 'succeeded' } };
    const long = { ...refunded, ledger: Array.from({ length: 90 }, (_, at) => ({ at })) };
    const excerpt = excerptOf(long, REMOVED_POINTER);
    expect(excerpt).toContain('It began with');
    expect(
      done(
        call('create_refund', order, refunded),
        call('crm__sendMail', { to: 'ada@example.com' }, excerpt),
        call('reply-to-ticket', { id: 'T-1' }, { success: false }),
        call('crm_update_address', { customer: 'cus_1' }, { ok: true }),
        call('ticketClose', { id: 'T-1' }, { status: 'closed' }),
        call('create_invoice', { order_id: 'ord_7' }, '[create_invoice: ord_7 — error, 2 lines]'),
        call('cancel_order', { order_id: 'ord_8' }, excerptOf({ ...long, success: false }, '[x]')),
        call('get_order', { order_id: 'ord_7' }, { status: 'open' }),
        call('order_status', { order_id: 'ord_7' }, { status: 'open' }),
      ),
    ).toEqual({
      'create_refund order_id: ord_9, amount: 1999 → {"id":"re_1","status":"succeeded"}': 'passed',
      'crm__sendMail ada@example.com → {"id":"re_1","status":"succeeded"}': 'passed',
      'reply-to-ticket T-1': 'failed',
      'crm_update_address cus_1': 'passed',
      'ticketClose T-1 → {"status":"closed"}': 'passed',
      'create_invoice ord_7': 'failed',
    });
  });

  it('tells what tools did whose names say nothing, as in another language, unless they say as much as a page', () => {
    const made = { erstattung_id: 'ER-77', betrag: 42.5, status: 'angelegt' };
    const held = excerptOf(JSON.stringify({ zeilen: 'x'.repeat(900), id: 'RT-5' }), '[x]');
    expect(held).toContain('It held: {"id":"RT-5"}');
    expect(
      done(
        call('erstattung_anlegen', { bestellung: '4711' }, made),
        call('retoure_erstellen', { bestellung: '4711' }, held),
        call('mail_planen', { an: 'a@b.de' }, '[mail_planen: a@b.de — success, 1 line]'),
        call('wissensdatenbank', { frage: 'Frist' }, 'Die Frist gilt ab Zustellung. '.repeat(90)),
        call('browser_click', { element: 'Place order' }, '- listitem "Cart"\n'.repeat(200)),
        call('upload_report', { file_path: 'a.pdf' }, 'x'.repeat(4_000)),
        call('order_output', { id: 'ord_1' }, 'x'),
      ),
    ).toEqual({
      'erstattung_anlegen 4711 → {"status":"angelegt","erstattung_id":"ER-77"}': 'passed',
      'retoure_erstellen 4711 → {"id":"RT-5"}': 'passed',
      'mail_planen a@b.de': 'passed',
      'browser_click Place order': 'passed',
      'upload_report a.pdf': 'passed',
    });
  });

  it('names what tools of MCP made, also of an issue about an error and behind its excerpt', () => {
    const issue = {
      id: 2201,
      number: 412,
      state: 'open',
      body: 'Error: made twice\nat home\nlast',
    };
    const text = JSON.stringify({ ...issue, history: 'x '.repeat(90) });
    const name = 'mcp__github__create_issue repo: shop, title: It fails';
    for (const result of [
      [{ type: 'text', text }],
      { content: [{ type: 'text', text }] },
      excerptOf([{ type: 'text', text }], REMOVED_POINTER, 'mcp__github__create_issue'),
    ]) {
      expect(
        done(call('mcp__github__create_issue', { repo: 'shop', title: 'It fails' }, result)),
      ).toEqual({ [`${name} → {"id":2201,"number":412,"state":"open"}`]: 'passed' });
    }
  });

  it('tells of two things that were made by equal calls, and of none that failed before it was made', () => {
    const order = { sku: 'A-1' };
    expect(
      done(
        call('place_order', order, { error: 'no stock' }),
        call('place_order', order, { order_number: 41 }),
        call('place_order', order, { order_number: 42 }),
      ),
    ).toEqual({
      'place_order A-1 → {"order_number":41}': 'passed',
      'place_order A-1 → {"order_number":42}': 'passed',
    });
  });

  it('tells of several things what was not done, until all of it is', () => {
    const ids = { status: 'closed', team: 'a' };
    const partly = { succeeded: 9, failed: 1, errors: [{ id: 704, code: 'LOCKED' }] };
    const name = 'bulk_update_tickets status: closed, team: a';
    const first = call('bulk_update_tickets', ids, partly);
    const imported = { id: 'imp_7', status: 'completed', imported: 288, failed: 12 };
    expect(done(first, call('import_contacts', { file_id: 'f_1' }, imported))).toEqual({
      [`${name} → failed: 1, errors: 1, succeeded: 9`]: 'failed',
      'import_contacts f_1 → failed: 12, imported: 288 → {"id":"imp_7","status":"completed","failed":12}':
        'failed',
    });
    const shared = { shared: ['a@b.de'], failed: [{ email: 'c@d.de' }] };
    expect(done(call('share_document', { id: 'doc_9' }, shared))).toEqual({
      'share_document doc_9 → failed: 1': 'failed',
    });
    expect(done(call('queue_stats', { of: 'mail' }, { processed: 90, failed: 3 }))).toEqual({
      'queue_stats mail': 'passed',
    });
    expect(done(call('update_campaign', { id: 'c' }, { id: 'c_1', sent: 9, failed: 3 }))).toEqual({
      'update_campaign c → {"id":"c_1","failed":3}': 'passed',
    });
    expect(done(first, call('bulk_update_tickets', ids, { succeeded: 10, failed: 0 }))).toEqual({
      [name]: 'passed',
    });
  });

  it('claims of nothing that it was done which was only tried out, and tells in which state a thing is', () => {
    const refund = { order_id: 'ord_9' };
    const tried = { dry_run: true, would_refund: 12.5 };
    expect(
      done(
        call('create_refund', refund, tried),
        call('apply_changes', refund, excerptOf({ ...tried, rows: 'x'.repeat(900) }, '[x]')),
        call('create_refund', { order_id: 'ord_8' }, { id: 're_8', status: 'succeeded' }),
        call('create_refund', { order_id: 'ord_8' }, JSON.stringify(tried, null, 2)),
        call(
          'create_refund',
          { order_id: 'ord_7' },
          { warning: 'w', refund: { id: 're_7', state: 'held' } },
        ),
        call('book_flight', { flight: 'X1' }, { booking: { status: 'WAITLISTED', pnr: 'AB' } }),
        call('update_order_status', { order: 'o_1', status: 'shipped' }, { success: true }),
        call('create_event', { title: 'Review' }, { created: false, reason: 'conflict' }),
        call('create_refund', { order_id: 'ord_6' }, { refund: { id: 're_6', dry_run: true } }),
        call('create_job', { of: 'x' }, { id: 'j_1', settings: { dry_run: true } }),
      ),
    ).toEqual({
      'create_job x → {"id":"j_1"}': 'passed',
      'create_refund ord_8 → {"id":"re_8","status":"succeeded"}': 'passed',
      'create_refund ord_7 → {"id":"re_7","state":"held"}': 'passed',
      'book_flight X1 → {"status":"WAITLISTED"}': 'passed',
      'update_order_status order: o_1, status: shipped': 'passed',
      'create_event Review': 'failed',
    });
  });

  it('tells things apart by lists of their ids, and says of what was made only what the call does not', () => {
    const tagged = { updated: 1, failed: 1 };
    const made = '{"id":123456789012345678901,"status":"solved","ticket_id":"T-1"}';
    expect(
      done(
        call('bulk_tag', { ids: ['T-1', 'T-2'], tag: 'done' }, tagged),
        call('bulk_tag', { ids: ['T-3', 'T-4'], tag: 'done' }, { updated: 2 }),
        call('delete_rows', { rows: [7, 8] }, 'gone'),
        call('update_ticket', { ticket_id: 'T-1', status: 'solved' }, made),
        call('update_ticket', { ticket_id: 'T-2', status: 'open' }, { id: 'T-2', status: 'open' }),
      ),
    ).toEqual({
      'bulk_tag ids: T-1, T-2, tag: done → failed: 1, updated: 1': 'failed',
      'bulk_tag ids: T-3, T-4, tag: done': 'passed',
      'delete_rows rows: 7, 8': 'passed',
      'update_ticket ticket_id: T-1, status: solved → {"id":123456789012345678901}': 'passed',
      'update_ticket ticket_id: T-2, status: open': 'passed',
    });
  });

  it('names the short arguments of a call before long ones', () => {
    const long = { sql: 's'.repeat(78), note: 'n'.repeat(60), limit: 5, force: true };
    expect(done(call('apply_sql', long, 'done'))).toEqual({
      [`apply_sql note: ${long.note}, limit: 5, force: true`]: 'passed',
    });
  });

  it('takes down only what the user answered of entries that are shortened', () => {
    const history = [
      ...call('AskUserQuestion', {}, 'Never the red one.'),
      ...bash('npm test', 'ok'),
      ...edit('a.ts'),
    ];
    const { callOf } = outlineHistory(history);
    const from = { history, callOf, toolCatalog: KNOWN_TOOL_CATALOG, earlier: NO_WORK };
    const record = gatherWork({ ...from, fateOf: () => 'shortened' });
    expect(record).toEqual({ ...NO_WORK, said: ['Never the red one.'] });
    expect(gatherWork({ ...from, fateOf: () => 'kept' })).toEqual(NO_WORK);
  });

  it('takes down what the lines in place of results will not tell: what was made, and what was denied', () => {
    const refund = { order_id: 'ord_9', amount: 1999 };
    const denial = 'The tool use was rejected. The user said: legal looks at it';
    const history = [
      ...call('create_refund', refund, { refund: { id: 're_1' } }),
      ...call('update_ticket', { ticket_id: 7, status: 'open' }, denial),
      ...call('get_order', { order_id: 'ord_9' }, { id: 'ord_9' }),
      ...call('add_note', { ticket_id: 7, note: 'x'.repeat(200) }, 'noted'),
      ...call('bulk_tag', { ids: [7, 8] }, { updated: 1, failed: 1 }),
    ];
    const from = { callOf: outlineHistory(history).callOf, toolCatalog: KNOWN_TOOL_CATALOG };
    const shortened = gatherWork({ history, ...from, fateOf: () => 'shortened', earlier: NO_WORK });
    const told = {
      'create_refund order_id: ord_9, amount: 1999 → {"id":"re_1"}': 'passed',
      'update_ticket ticket_id: 7, status: open — the user said: legal looks at it': 'denied',
      'bulk_tag ids: 7, 8 → failed: 1, updated: 1': 'failed',
    };
    expect(Object.fromEntries(shortened.done)).toEqual(told);
    const lines = history.map((entry, index) => summarizeEntry(entry, index, from.callOf));
    expect(Object.fromEntries(gather(lines, shortened).done)).toEqual({
      ...told,
      'add_note ticket_id: 7': 'passed',
    });
  });

  it('tells of no command that only showed something, unless it failed', () => {
    expect(
      done(
        bash('kubectl get pods', 'a 1/1 Running'),
        bash('kubectl apply -f a.yaml', 'configured'),
        bash('journalctl -u a', 'exit code: 1'),
        bash('git status', 'fatal: no repository\nexit code: 128'),
        bash('git status', 'clean'),
      ),
    ).toEqual({ 'kubectl apply -f a.yaml': 'passed', 'journalctl -u a': 'failed' });
  });

  it('claims of nothing that it was done which was refused, nor of tests in front of a pipe that they went well', () => {
    const refund = { order_id: 'ord_9' };
    const failed = { output: '9 passed, 2 failed', exit_code: 0 };
    expect(
      done(
        call('create_refund', refund, 'Refund refused: the order is too old'),
        call('create_order', refund, { id: 'ord_9', status: 'failed' }),
        call('browser_click', { element: 'Pay' }, 'Clicked\n### Console\n- [ERROR] 404'),
        bash('npm test | tail', failed),
        bash('cp a b', 'cp: a: No such file or directory'),
        bash('make', { output: 'all is made', exit_code: 0 }),
      ),
    ).toEqual({
      'create_refund ord_9': 'failed',
      'create_order ord_9': 'failed',
      'browser_click Pay': 'passed',
      make: 'passed',
    });
    const written = 'The file a.py has been edited. It reads: raise Error("it cannot")';
    expect(done(call('Edit', { file_path: 'a.py', old_string: 'a' }, written))).toEqual({
      'write a.py': 'written',
    });
    const refused = call('Edit', { file_path: 'a.ts', old_string: 'a' }, 'Not found in file.');
    const { callOf } = outlineHistory(refused);
    const lines = refused.map((entry, index) => summarizeEntry(entry, index, callOf));
    expect(Object.fromEntries(gather(lines).done)).toEqual({ 'write a.ts': 'failed' });
  });

  it('claims of no command that only shows something that it failed, because what it has shown did', () => {
    const log = `${'GET /a 200\n'.repeat(40)}ERROR: the payment was refused`;
    const shown = ['tail -n 41 app.log', 'kubectl logs api-0', 'make'].flatMap((command) =>
      bash(command, log),
    );
    const { callOf } = outlineHistory(shown);
    const lines = shown.map((entry, index) => summarizeEntry(entry, index, callOf));
    expect(JSON.stringify(lines)).toContain('tail -n 41 app.log — error');
    expect(Object.fromEntries(gather(lines).done)).toEqual({ make: 'failed' });
  });

  it('claims of no command that it went well whose output reports a failure anywhere, without ending well', () => {
    const failing = `--- FAIL: TestA (0.00s)\n${'ok  \tshop/cart\t0.01s\n'.repeat(90)}`;
    expect(done(bash('go test ./...', failing))).toEqual({});
    const expected = `Error: boom\n${'a plain line of it\n'.repeat(90)}412 passed`;
    expect(done(bash('npm test', expected))).toEqual({ 'npm test': 'passed' });
  });

  it('takes down what the user said, and nothing that nobody said', () => {
    const history = [
      humanText('Build it.\nAnd test it.'),
      humanText('<rules>', { synthetic: true }),
      humanText('so far', { isSummary: true }),
      humanText('  '),
      aiContent('I will never stop.'),
      humanText('No, the other one.'),
    ];
    expect(gather(history).said).toEqual(['Build it.\nAnd test it.', 'No, the other one.']);
  });

  it('takes down what the user answered through a tool, unless that is denied or gone', () => {
    const ask = (result: unknown, error?: string): IContent[] =>
      call('AskUserQuestion', { questions: [{ question: 'Which?' }] }, result, error);
    const denial = "The user doesn't want to proceed with this tool use.";
    const { said, done: outcomes } = gather([
      humanText('Build it.'),
      ...ask('User has answered: "Which?"="The blue one, never the red one."'),
      ...ask([{ type: 'text', text: 'The green one.' }]),
      ...ask(PRUNED_POINTER),
      ...ask('', denial),
    ]);
    expect(said).toEqual([
      'Build it.',
      'User has answered: "Which?"="The blue one, never the red one."',
      'The green one.',
    ]);
    expect([...outcomes.values()]).toEqual(['denied']);
  });

  it('goes on from what was known', () => {
    const earlier = {
      ...NO_WORK,
      said: ['first'],
      lostSaid: 2,
      done: new Map([['npm test', 'failed']] as const),
    };
    expect(gather([humanText('second'), ...bash('npm test', 'ok')], earlier)).toEqual({
      said: ['first', 'second'],
      lostSaid: 2,
      done: new Map([['npm test', 'passed']]),
      lostDone: {},
    });
  });

  it.each<[string, readonly IContent[][], Record<string, string>]>([
    ['a command that went well', [bash('npm test', 'all 12 tests pass')], { 'npm test': 'passed' }],
    ['one with an error', [bash('npm test', '', 'Exit code 1')], { 'npm test': 'failed' }],
    [
      'one that says its exit code',
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
      'one that names its code in parts, or in a field',
      [
        bash('make', [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'Exit code: 2' },
        ]),
        bash('run', { content: [{ type: 'text', text: 'Exit code: 2' }] }),
        bash('try', { stdout: 'x.c:1:2: error: expected ;' }),
      ],
      { make: 'failed', run: 'failed' },
    ],
    ['an exit code of zero', [bash('make', 'Exit Code: 0\nfailed to warn')], { make: 'passed' }],
    ['one whose time ran out', [bash('make', 'command timed out after 120 s')], { make: 'failed' }],
    ['a failure that is data', [bash('make', { output: 'x', isError: true })], { make: 'failed' }],
    ['one that could not be done', [bash('make', { success: false })], { make: 'failed' }],
    [
      'nothing of one whose output reports a failure without an exit code',
      [
        bash('make', 'ok'),
        bash('make', 'x.c:1:2: error: expected ;'),
        bash('foo', 'foo: command not found'),
      ],
      {},
    ],
    ['none whose output was pruned', [bash('make', PRUNED_POINTER)], {}],
    [
      'what a line in place of its output says',
      [
        bash('make', '[Bash: make — success, 2 lines]'),
        bash('git push', '[Bash: git push — error, 2 lines]'),
      ],
      { make: 'passed', 'git push': 'failed' },
    ],
    [
      'what an excerpt says, but no failure that it quotes',
      [
        bash('make', excerptOf(FAILING, PRUNED_POINTER)),
        bash('deploy', excerptOf(PASSING, REMOVED_POINTER)),
      ],
      { deploy: 'passed' },
    ],
    ['one with an error, though pruned', [bash('make', PRUNED_POINTER, 'no')], { make: 'failed' }],
    [
      'no outcome before one that was pruned',
      [bash('make', '', 'no'), bash('make', PRUNED_POINTER)],
      {},
    ],
    ['none that runs on', [bash('make', 'Process running with session ID 7')], {}],
    ['the latest outcome', [bash('make', '', 'no'), bash('make', 'ok')], { make: 'passed' }],
    ['the latest failure', [bash('make', 'ok'), bash('make', '', 'no')], { make: 'failed' }],
    ['no command that looks', [bash('cat a.ts', 'text'), bash('grep -r x src/a', '', 'none')], {}],
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
        call('Write', { file_path: '/w/not-found.ts' }, 'Wrote /w/not-found.ts'),
        call('Write', { file_path: '/w/c.ts' }, "Updated. It is now:\n1\tthrow 'not found'"),
      ],
      {
        'write /w/a.ts': 'failed',
        'write /w/b.ts': 'failed',
        'write /w/not-found.ts': 'written',
        'write /w/c.ts': 'written',
      },
    ],
    [
      'no file as written that is gone',
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
        'git checkout -- a.ts': 'passed',
        'delete b.ts': 'passed',
        'delete c.ts': 'passed',
        'write d.ts': 'written',
      },
    ],
    [
      'no failure after success of a file',
      [edit('/w/a.ts'), edit('/w/a.ts', 'no match')],
      { 'write /w/a.ts': 'written' },
    ],
    [
      'an edit that went well in the end',
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
        bash('rm x', 'ok'),
      ],
      {
        'rm x': 'passed',
        'rm x — the user said: git rm it': 'denied',
        'rm y — the user said: keep y': 'denied',
      },
    ],
    [
      'no denial that a long text speaks of',
      [call('Read', { file_path: 'a.md' }, `denied by the user\n${'x'.repeat(2_000)}`)],
      {},
    ],
    [
      'a permission that a program lacks',
      [bash('make', '', 'open: permission denied')],
      { make: 'failed' },
    ],
    [
      'a denied call that was allowed later',
      [bash('make', '', 'denied by the user'), bash('make', 'ok')],
      { make: 'passed' },
    ],
    [
      'reads and searches not at all',
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

  it('looks at nothing that stays', () => {
    const history = [humanText('one'), ...bash('make', 'ok'), humanText('two')];
    const { callOf } = outlineHistory(history);
    const record = gatherWork({
      history,
      fateOf: (entry) => (entry === history[3] ? 'removed' : 'kept'),
      callOf,
      earlier: NO_WORK,
    });
    expect(record).toEqual({ ...NO_WORK, said: ['two'] });
  });

  it('names what is long by both ends', () => {
    const [name = ''] = gather(bash(`echo ${'x'.repeat(500)} | sh run-a.sh`, 'ok')).done.keys();
    expect(name.length).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^echo xxx.*…x*.*run-a\.sh$/);
  });
});
