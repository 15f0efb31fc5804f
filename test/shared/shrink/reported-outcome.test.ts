// Whether a call has failed, where only the words of its result tell.

import { describe, expect, it } from 'vitest';
import { toolResponse } from '../../../src/shared/content.js';
import {
  hasFailed,
  mayHaveFailed,
  outcomeOf,
  sumsUpFailure,
} from '../../../src/shared/shrink/reported-outcome.js';
import { onlyShows } from '../../../src/shared/tool-words.js';

describe('sumsUpFailure', () => {
  it.each([
    ['dotnet', 'Test Run Failed.\nTotal tests: 120\n     Passed: 119\n     Failed: 1\n', true],
    ['dotnet that passes', 'Passed!  - Failed:     0, Passed:   120, Skipped:     0', false],
    ['ansible', 'web-1 : ok=9  changed=3  unreachable=0  failed=1  skipped=0', true],
    ['ansible that passes', 'web-1 : ok=9  changed=3  unreachable=0  failed=0', false],
    ['Maven', 'Tests run: 812, Failures: 1, Errors: 0, Skipped: 4', true],
    [
      'Playwright',
      `  14 failed\n${'    [chromium] › a.spec.ts:1:5 › a\n'.repeat(14)}  176 passed`,
      true,
    ],
    [
      'Jest that expects errors',
      'Error: boom\n  at f (a.js:1:2)\nTests: 412 passed, 412 total',
      false,
    ],
    [
      'a log that a bracket begins and ends',
      '[INFO] at work\n[ERROR] Failures: 1\n[INFO] [x]',
      true,
    ],
    ['a build that was shortened', '[ 1%] Building a\nmake: *** [all] Error 2\n[Shortened]', true],
    ['a merge', 'Auto-merging a.ts\nCONFLICT (content): Merge conflict in a.ts', true],
    ['an answer of a server', 'HTTP/2 503 \ncontent-type: text/html\n\nlater', true],
    ['one that QUIC has brought to Go', 'HTTP/3.0 503 \ncontent-type: text/html', true],
    ['a log of a server', '10.0.0.1 "GET / HTTP/1.1" 503', false],
    ['tests before a build', '12 passed\nerror: could not compile', true],
    ['a time and a size', '2 errors.ts\n10:05 errors: none', false],
    ['tests that are expected to fail', 'Ran 9 tests\n\nOK (expected failures=2)', false],
    ['tests that are still to do', 'not ok 3 - it works # TODO later\n# fail 0', false],
    ['a warning that names a path', 'warning: unused import: `std::error::Error`', false],
    ['a commit', '[main 951f4af8] Fix TypeError: it is undefined', false],
    ['a list of commits', '951f4af8 Fix TypeError: it is undefined', false],
    ['a log with ids of requests', 'a1b2c3d4 ERROR the request failed', true],
    ['CMake', '67% tests passed, 1 tests failed out of 3', true],
    ['a client of Redis', "(error) OOM command not allowed when used memory > 'maxmemory'.", true],
    ['a client of HTTP that tells all', '> GET /a HTTP/2\n< HTTP/2 429 \n< retry-after: 120', true],
    [
      'what writes in colours',
      '\u001b[32m==>\u001b[0m Push\n\u001b[31mERROR\u001b[0m denied',
      true,
    ],
    [
      'a build in colours',
      "a.ts:3:5 - \u001b[91merror\u001b[0m\u001b[90m TS2304: \u001b[0mno 'x'",
      true,
    ],
    ['a push', 'To github.com:a/b.git\n ! [rejected]        main -> main (fetch first)', true],
    ['a search', 'src/a.ts:40:    log("Error: it is")\nsrc/b.ts:7:throw Error: 2 failed', false],
    ['a checker of types', 'app/a.py:3: error: Incompatible types\nFound it', true],
    ['a client that finds no host', 'curl: (6) Could not resolve host: x.invalid', true],
    [
      'a client of a cloud',
      'upload failed: a An error occurred (AccessDenied) when calling it',
      true,
    ],
    ['packages', 'Get:1 a\nE: Unable to fetch some archives', true],
    ['a server that does not start', 'nginx: [emerg] unknown directive in /etc/nginx/a:14', true],
    ['a service', '● api.service - API\n     Active: failed (Result: exit-code) since today', true],
    ['a run that was watched', "X main build · 99\nRun build (99) completed with 'failure'", true],
    ['hosts that were not reached', 'web-1 : ok=0 changed=0 unreachable=1 failed=0', true],
    ['tests of Node', '1..60\n# tests 60\n# pass 58\n# fail 2\n# duration_ms 146.06', true],
    ['tests of Node that pass', '✖ logs\nℹ tests 60\nℹ pass 60\nℹ fail 0\nℹ skipped 0', false],
    [
      'a test of Node with what it says below',
      `ℹ fail 1\n\n✖ case 7 (1.69ms)\n  Expected:\n${'    { n: 1 },\n'.repeat(30)}  }\n`,
      true,
    ],
    ['tap', '1..60\n# { total: 60, pass: 58, fail: 2 }\n# time=208.873ms', true],
    ['TAP without a sum', `TAP version 13\nnot ok 1 - a {\n${'  ok 2 - b\n'.repeat(40)}}`, true],
    [
      'TAP of which all passes',
      `TAP version 13\nok 1 - a {\n${'  not ok 2 - b\n'.repeat(3)}}\nnot ok 2 - c # TODO c${'\n    ok 3 - d'.repeat(20)}`,
      false,
    ],
    [
      'JUnit',
      `<?xml version="1.0" ?>\n<testsuites name="a" tests="9" failures="1" errors="0">\n${'<a/>\n'.repeat(90)}`,
      true,
    ],
    ['JUnit of which all passes', '<testsuites tests="9" failures="0" errors="0">\n<a/>', false],
    [
      'what throws from deep within',
      `Error: no config\npath: /a\n${'    at f (/a/b.js:1:2)\n'.repeat(90)}`,
      true,
    ],
    [
      'Java that throws',
      `Caused by: a.B: x\njava.lang.IllegalStateException: no\n${'\tat a.B(C.java:1)\n'.repeat(90)}\t... 9 more\n`,
      true,
    ],
    [
      'TAP of which the first fails',
      `TAP version 13\nnot ok 1 - a\n${'ok 2 - all of b\n'.repeat(300)}`,
      true,
    ],
    ['TAP that gives up', 'TAP version 13\nok 1 - a\nBail out! No database', true],
    [
      'TAP that a page quotes',
      `Of TAP:\n\n\`\`\`tap\nTAP version 13\nnot ok 1 - a\n\`\`\`\n${'More words.\n'.repeat(20)}`,
      false,
    ],
    [
      'JUnit of which the first fails',
      `<testsuites tests="301" failures="1">\n<failure />\n${'<testcase name="b" />\n'.repeat(300)}`,
      true,
    ],
    [
      'JUnit of Node',
      `${'<testcase name="b" />\n'.repeat(300)}<!-- fail 1 -->\n</testsuites>`,
      true,
    ],
    ['code with a report of JUnit', `parse('<testsuites failures="1">');\nfail();`, false],
    ['a file with a report of JUnit', '1\t<testsuites failures="1">\n2\t<failure />', false],
    ['matches in reports of JUnit', 'a.xml:2:<testsuite name="fails" failures="1">', false],
    ['a setting', 'haproxy:\n  rise: 2\n  fail: 3', false],
    ['the version of Node', 'npm 10.8.2\nNode.js v20.19.2', false],
    [
      'what throws from deep within, in colours',
      `Error: no config\n${'\u001b[90m    at f (/a/b.js:1:2)\u001b[39m\n'.repeat(90)}`,
      true,
    ],
    [
      'a test with what it says below, on Windows',
      `✖ case 7 (1.69ms)\r\n  Expected:\r\n${'    { n: 1 },\r\n'.repeat(30)}`,
      true,
    ],
  ])('tells of the end of %s', (_, text, is) => {
    expect(sumsUpFailure(text)).toBe(is);
    expect(hasFailed(toolResponse('c', 'run', text))).toBe(is);
  });
});

describe('hasFailed', () => {
  it('takes no failure that is shown for one of the call, unless its fields or its exit code say so', () => {
    const shown = 'Error: it is missing';
    for (const tool of ['web_search', 'browserSnapshot', 'mcp__github__get_issue', 'Read']) {
      expect(onlyShows(tool)).toBe(true);
      expect(hasFailed(toolResponse('c', tool, shown))).toBe(false);
      expect(hasFailed(toolResponse('c', tool, shown, 'timed out'))).toBe(true);
      expect(hasFailed(toolResponse('c', tool, { text: shown, isError: true }))).toBe(true);
      expect(hasFailed(toolResponse('c', tool, `${shown}\nexit code: 1`))).toBe(true);
    }
    expect(hasFailed(toolResponse('c', 'Bash', shown))).toBe(true);
  });

  it('reads in the first fields of a long report whether it succeeded', () => {
    const report = (success: boolean): string =>
      JSON.stringify({
        snapshot: { success: false },
        success,
        results: [{ success: false, of: 'a'.repeat(30_000) }],
      });
    expect(hasFailed(toolResponse('c', 'Bash', report(false)))).toBe(true);
    expect(outcomeOf(toolResponse('c', 'Bash', report(false)))).toBe('failed');
    expect(hasFailed(toolResponse('c', 'Bash', report(true)))).toBe(false);
    // Logs and other outputs that begin with an object.
    for (const behind of [report(true), `retried\n${report(true)}`]) {
      const log = `{"success":false}\n${behind}\n`;
      expect(hasFailed(toolResponse('c', 'Bash', log))).toBe(false);
      expect(outcomeOf(toolResponse('c', 'Bash', log.replaceAll('\n', '\r\n')))).toBe('passed');
    }
    const run = JSON.stringify({ exit_code: 1, stdout: 'a'.repeat(30_000) });
    expect(hasFailed(toolResponse('c', 'run', run))).toBe(true);
    const indented = JSON.stringify(JSON.parse(report(false)), null, 2);
    expect(hasFailed(toolResponse('c', 'Bash', `${indented}\n`))).toBe(true);
  });

  it('reads no failure in what data holds', () => {
    const data = [{ state: 'error: it is missing' }, { state: '1 failed' }];
    for (const given of [JSON.stringify(data), JSON.stringify({ data }, null, 2)]) {
      expect(sumsUpFailure(given)).toBe(true);
      expect(hasFailed(toolResponse('c', 'create_ticket', given))).toBe(false);
    }
  });

  it('reads no failure in changes that are shown, but behind them', () => {
    const diff = `diff --git a/x b/x\n@@ -1 +1,2 @@\n+throw "Error: it is"\n${' a line\n'.repeat(12)}`;
    expect(hasFailed(toolResponse('c', 'Bash', `${diff}+log("ERROR: 2 failed")`))).toBe(false);
    expect(hasFailed(toolResponse('c', 'Bash', `${diff}2 failed, 3 passed`))).toBe(true);
  });

  it('believes an exit code, but for the counts of tests in front of a pipe', () => {
    const named = (words: string): unknown[] => [
      { output: words, exit_code: 0 },
      `${words}\nProcess exited with code 0`,
      `<returncode>0</returncode>\n<output>\n${words}\n</output>`,
    ];
    for (const given of named('def f():\n    log("Error: it is missing")')) {
      expect(hasFailed(toolResponse('c', 'bash', given))).toBe(false);
    }
    for (const said of [
      '9 passed, 2 failed',
      'FAIL: the total is 3',
      'src/a.ts(3,5): error TS2322: no such type',
      'src/a.c:3:5: error: no such type',
      'error: could not compile `a` (lib)',
      'make: *** [Makefile:3: all] Error 2',
      'npm error code ERESOLVE',
      '[INFO] BUILD FAILURE',
    ]) {
      for (const given of named(said)) {
        expect(hasFailed(toolResponse('c', 'bash', given))).toBe(true);
      }
    }
    expect(hasFailed(toolResponse('c', 'bash', named('not ok 3 - it works # TODO')[0]))).toBe(
      false,
    );
  });

  it('takes no exit code from code that is shown', () => {
    for (const code of ['exit 1', '  return 1', '[ -z "$a" ] && exit 1', '|| { exit 3; }']) {
      expect(hasFailed(toolResponse('c', 'bash', `if bad; then\n${code}`))).toBe(false);
    }
    const leaks = '    in use at exit: 72 bytes in 1 blocks\nERROR SUMMARY: 0 errors';
    expect(hasFailed(toolResponse('c', 'bash', leaks))).toBe(false);
    expect(hasFailed(toolResponse('c', 'bash', '\u001b[31mexited with 2\u001b[0m'))).toBe(true);
    for (const code of ['(exit 1)', '[exit 1]', 'exit status 1', 'Exit: 1', 'exited with 2']) {
      expect(hasFailed(toolResponse('c', 'bash', `a line of it\n${code}`))).toBe(true);
    }
  });

  it.each([
    'Killed',
    '/bin/bash: line 1:  4711 Killed                  node a.js',
    'sh: line 3: foo: command not found',
    'Command timed out after 120000ms',
    'Error from server (NotFound): namespaces "x" not found',
    "cp: cannot create regular file '/x/y': No such file or directory",
    'rm: x: Permission denied',
    'ssh: connect to host x port 22: Connection refused',
    'Could not connect to Redis at 10.0.0.1:6379: Connection refused',
    `TypeError: no {\n${'  b: 1,\n'.repeat(30)}}\n\nNode.js v20.19.2`,
    'Permission denied (publickey).',
    'bash: kill: (99): No such process',
  ])('takes a program for failed that could not be run to its end: %s', (said) => {
    const output = `${'a plain line of it\n'.repeat(40)}${said}\n`;
    expect(hasFailed(toolResponse('c', 'Bash', output))).toBe(true);
    expect(hasFailed(toolResponse('c', 'Bash', { output, exit_code: 0 }))).toBe(false);
    const behind = `${said}\n${'a plain line of it\n'.repeat(40)}`;
    expect(hasFailed(toolResponse('c', 'Bash', behind))).toBe(false);
  });

  it.each([
    ['create_refund', 'Refund refused: the order is too old', true],
    ['create_refund', 'You are not allowed to refund this order.', true],
    ['create_refund', '1 validation error for CreateRefund\namount', true],
    ['mcp__x__create_refund', 'MCP error -32602: Invalid arguments', true],
    ['update_order', 'Request failed with status code 403', true],
    ['create_refund', 'Request timed out after 30 s', true],
    ['create_refund', '<html><head><title>502 Bad Gateway</title></head></html>', true],
    ['create_refund', '退款失败：订单已过期', true],
    ['退款', '退款失败:余额不足', true],
    ['reset_password', 'This action requires manager approval. It is asked for.', true],
    ['reset_password', 'A request was sent. Nothing has been changed yet.', true],
    ['reset_password', 'It is set already. No changes were made.', false],
    ['reset_password', 'Not possible. No message was sent.', true],
    ['update_ticket', 'Ticket updated. No message was sent.', false],
    ['deploy', 'It runs. No errors were created.', false],
    ['submit_expense', 'Expense submitted; it requires manager approval', false],
    ['deploy', 'Deploy complete. No files were changed.', false],
    ['save_file', 'OK. No changes were made.', false],
    ['str_replace_editor', "Here's the file:\n     1\t// Nothing was sent to it.", false],
    ['edit_file', '```diff\n+// nothing was sent\n```', false],
    ['write_note', '1\tNo messages were sent.', false],
    ['execute_sql', { failed_count: 12 }, false],
    ['run_python', { errors: 3 }, false],
    ['bulk_update', { succeeded: 9, failed: 1 }, true],
    ['bulk_update', { succeeded: 10, failed: 0, errors: [] }, false],
    ['send_batch', { Successful: [{ Id: 1 }], Failed: [{ Id: 2 }] }, true],
    ['put_records', { FailedRecordCount: 2, Records: [] }, true],
    ['batch_write', { UnprocessedItems: { orders: [{}] } }, true],
    ['batch_write', { UnprocessedItems: {}, failed_at: 1795, error_code: 7 }, false],
    ['elastic_bulk', JSON.stringify({ took: 3, errors: true, items: [] }), true],
    ['run_import', { id: 'i_1', imported: 3, failed_count: 2 }, true],
    ['update_campaign', { id: 'c_1', sent: 90, failed: 3 }, false],
    ['update_user', { user_id: 'u_1', failures: 2 }, false],
    ['update_monitor', { name: 'api', failure_count: 2, state: 'firing' }, false],
    ['create_user', { email: 'a@b.c', failed_login_count: 2 }, false],
    ['reject_expense', { expense: 7, rejected: true }, false],
    ['reject_invites', { rejected: 3 }, false],
    ['reject_invites', { rejected: 3, failed: 1 }, true],
    ['mcp__make__list_scenarios', { failed: 3, scenarios: [] }, false],
    ['run_shell_command', JSON.stringify({ failed: 3 }), false],
    ['list_jobs', { failed: 3, passed: 9 }, false],
    ['create_event', { created: false, reason: 'conflict' }, true],
    ['create_contact', { id: 'c_1', created: false }, false],
    ['create_contact', { contact: { id: 'c_1' }, created: false }, false],
    ['create_contact', { email: 'a@b.c', contacted: false }, false],
    ['create_refund', { refunded: false, reason: 'too old' }, true],
    ['send_email', { sent: false, reason: 'bounced' }, true],
    ['send_email', { sent: false, queued: true }, false],
    ['send_email', { message_id: 'm_1', sent: false }, false],
    ['pay_invoice', { paid: false, reason: 'limit' }, true],
    ['pay_invoice', { invoice_id: 'i_1', paid: false }, false],
    ['delete_user', { user_id: 7, deleted: false }, true],
    ['cancel_order', { order_id: 7, cancelled: false, status: 'requested' }, false],
    ['send_report', { executed: false, scheduled_for: '2027-01-01' }, false],
    ['update_document', { _index: 'a', _id: '1', created: false }, false],
    ['put_item', { created: false }, false],
    ['update_consent', { purpose: 'mail', consent: false }, false],
    ['set_published', { published: false }, false],
    ['update_feature', { featured: false }, false],
    ['send_offer', { offer_id: 'o_1', accepted: false }, false],
    ['submit_order', { accepted: false, request_id: 'r', reason: 'margin' }, true],
    ['schedule_job', { scheduled: true, executed: false }, false],
    ['update_user', { updated: true, enabled: false }, false],
    ['merge_pull_request', { merged: false, sha: 'abc' }, true],
    ['create_issue', { id: 5, locked: false, merged: false }, false],
    ['create_refund', { errcode: 40001, errmsg: 'invalid credential' }, true],
    ['create_refund', { errcode: 0, errmsg: 'ok' }, false],
    ['write_file', 'Successfully wrote it. Note: it has not been formatted', false],
    ['Edit', 'String to replace not found in file.', true],
    ['Edit', 'File has not been read yet. Read it first before writing to it.', true],
    ['create_refund', { id: 're_1', status: 'failed', reason: 'expired' }, true],
    ['create_refund', { refund: { id: 're_1', status: 'declined' } }, true],
    ['update_build', { id: 'b_1', status: 'failed' }, false],
    ['get_payment', { id: 'p_1', status: 'failed' }, false],
    ['deploy_status', { status: 'failed', message: 'the build broke' }, false],
    ['run_query', { data: { status: 'failed' } }, false],
    ['create_issue', 'Created issue #5: Login failed with error 403', false],
    ['create_issue', { id: 5, message: 'Could not log in' }, false],
    ['send_email', 'Sent. It could not be opened yet.', false],
    ['browser_click', 'Clicked\n### Console\n- [ERROR] Failed to load: 404', false],
    ['browser_click', 'TimeoutError: locator.click: 5000ms exceeded.', true],
    ['browser_click', '### Error\nTimeoutError: 5000ms exceeded.\nCall log:\n  - waiting', true],
    ['browser_click', '### Result\nError: Ref e42 not found in the snapshot.', true],
    ['browser_navigate', '### Error\nError: page.goto: net::ERR_NAME_NOT_RESOLVED', true],
    ['browser_navigate', '### Page\n- Page Title: Failed to load\n### Error messages', false],
    ['navigate_page', '# navigate_page response\nUnable to navigate: net::ERR_FAILED', true],
    ['WebFetch', 'Request failed with status code 403', true],
    ['fetch', '<error>Failed to fetch robots.txt https://x.org</error>', true],
    ['get_page', '# Errors and how to handle them\nError: a class of its own', false],
    ['get_issue', 'Failed to log in since the update\n\nSteps: open the page', false],
    ['get_issue', 'Failed to log in since the update', false],
    ['kubectl_logs', 'Failed to pull image "api": not found', false],
    ['list_alerts', 'HTTP 500 for more than 2 % of requests', false],
    ['WebFetch', '# Error\n\nAn `Error` is thrown when something goes wrong.', false],
    ['get_doc', '# API response\n\nFailed to parse is what you see then.', false],
  ])('tells of what %s answers whether it was done: %j', (tool, result, is) => {
    expect(hasFailed(toolResponse('c', tool, result))).toBe(is);
  });

  it.each([
    ['an object that APIs describe', { error: { code: 'limit', message: 'At most 75 EUR' } }, true],
    ['a list of GraphQL', { data: null, errors: [{ message: 'no such field' }] }, true],
    ['a list alone', { errors: [{ detail: 'no such field' }] }, true],
    ['a list beside data', { data: { a: 1 }, errors: [{ message: 'partly' }] }, false],
    ['a list beside a message', { message: 'Validation Failed', errors: [{ code: 'x' }] }, true],
    ['an error of Shopify', { data: { refund: { userErrors: [{ message: 'too much' }] } } }, true],
    ['a state', { status: 'error', message: 'too old' }, true],
    ['a code of HTTP', { statusCode: 404, message: 'no such order' }, true],
    ['an object of that kind', { object: 'error', code: 'validation_error', message: 'no' }, true],
    ['an answer of that kind', { type: 'web_fetch_error', error_code: 'unavailable' }, true],
    ['a list of messages', { errorMessages: ['It is not on this screen.'], errors: {} }, true],
    ['an event of that kind', { id: 'e1', type: 'error', message: 'x is not defined' }, false],
    ['a problem', { type: 'about:blank', title: 'Unprocessable', status: 422 }, true],
    ['a message', { error_code: 402, error_message: 'the card was declined' }, true],
    ['what is true', { error: true, message: 'too old' }, true],
    ['what is false', { ok: false, reason: 'no such channel' }, true],
    ['a word that is false', { success: 'false' }, true],
    ['a code of something else', { id: 7, code: 404 }, false],
    ['what went well', { status: 200, message: 'ok' }, false],
    ['nothing', { error: null, errors: [], id: 7 }, false],
    ['an empty object', { error: {}, id: 7 }, false],
  ])('reads a failure in the fields of a result: %s', (_, result, is) => {
    const text = JSON.stringify(result);
    const content = [{ type: 'text', text }];
    for (const given of [result, text, content, { content }]) {
      expect(hasFailed(toolResponse('c', 'create_refund', given))).toBe(is);
    }
  });

  it('takes a call that was denied for one that has failed, whatever it is called', () => {
    for (const tool of ['update_ticket', 'get_ticket']) {
      const said = "The user doesn't want to proceed with this tool use.";
      expect(hasFailed(toolResponse('c', tool, said))).toBe(true);
      expect(hasFailed(toolResponse('c', tool, said.padEnd(2_000)))).toBe(false);
    }
  });
});

describe('mayHaveFailed', () => {
  it('is true of a report anywhere, unless the end says that all is well', () => {
    const text = `--- FAIL: TestA (0.00s)\n${'a line of it\n'.repeat(400)}`;
    expect(mayHaveFailed(text)).toBe(true);
    expect(mayHaveFailed(`${text}412 passed`)).toBe(false);
    expect(mayHaveFailed(`${text}411 passed, 1 failed`)).toBe(true);
    expect(mayHaveFailed(text.replace('FAIL', 'SKIP'))).toBe(false);
  });
});
