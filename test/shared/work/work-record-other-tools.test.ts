// What is recorded of calls of other tools than files and commands: what they made, in their own words.

import { describe, expect, it } from 'vitest';

import { REMOVED_POINTER } from '../../../src/shared/density.js';
import { excerptOf } from '../../support/excerpt-of.js';
import { call, done } from '../../support/gathered-work.js';

describe('gatherWork', () => {
  it('records what tools of other kinds did, so that it is not done twice', () => {
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
      'create_refund order_id: ord_9, amount: 1999 → {"id":"re_1","status":"succeeded"}':
        'answered',
      'crm__sendMail ada@example.com → {"id":"re_1","status":"succeeded"}': 'answered',
      'reply-to-ticket T-1': 'failed',
      'crm_update_address cus_1': 'passed',
      'ticketClose T-1 → {"status":"closed"}': 'answered',
      'create_invoice ord_7': 'failed',
      'cancel_order ord_8': 'failed',
    });
  });

  it('records tools with meaningless names, as in another language, unless their result is as long as a page', () => {
    const made = { erstattung_id: 'ER-77', betrag: 42.5, status: 'angelegt' };
    const held = excerptOf(JSON.stringify({ zeilen: 'x'.repeat(900), id: 'RT-5' }), '[x]');
    expect(held).toContain('It held: {"id":"RT-5"}');
    expect(
      done(
        call('erstattung_anlegen', { bestellung: '4711' }, made),
        call('retoure_erstellen', { bestellung: '4711' }, held),
        call('mail_planen', { an: 'a@b.de' }, '[mail_planen: a@b.de — success, 1 line]'),
        call('frist', { nummer: 7 }, 'Frist-Nummer: 7\nbis Montag'),
        call('wissensdatenbank', { frage: 'Frist' }, 'Die Frist gilt ab Zustellung. '.repeat(90)),
        call('browser_click', { element: 'Place order' }, '- listitem "Cart"\n'.repeat(200)),
        call('upload_report', { file_path: 'a.pdf' }, 'x'.repeat(4_000)),
        call('order_output', { id: 'ord_1' }, 'x'),
      ),
    ).toEqual({
      'erstattung_anlegen 4711 → {"status":"angelegt","erstattung_id":"ER-77"}': 'answered',
      'retoure_erstellen 4711 → {"id":"RT-5"}': 'answered',
      'mail_planen a@b.de': 'answered',
      'frist nummer: 7 → bis Montag': 'answered',
      'browser_click Place order → - listitem "Cart"': 'answered',
      'upload_report a.pdf': 'answered',
    });
  });

  it('names what MCP tools made, also for an issue about an error and from its excerpt', () => {
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
      ).toEqual({ [`${name} → {"id":2201,"number":412,"state":"open"}`]: 'answered' });
    }
  });

  it('records both results of equal calls, and none that failed before something was made', () => {
    const order = { sku: 'A-1' };
    expect(
      done(
        call('place_order', order, { error: 'no stock' }),
        call('place_order', order, { order_number: 41 }),
        call('place_order', order, { order_number: 42 }),
        call('run_python', { code: 'f(1)' }, 'TypeError: got a float'),
        call('run_python', { code: 'f(1)' }, 'all is well'),
      ),
    ).toEqual({
      'run_python f(1) → all is well': 'answered',
      'place_order A-1 → {"order_number":41}': 'answered',
      'place_order A-1 → {"order_number":42}': 'answered',
    });
  });

  it('quotes the line that names what was made, however much stands below it', () => {
    const below = '\n\nThe customer is told within a day. All is well.';
    const parts = { content: [{ type: 'text', text: `Created ENG-123: Crash at start${below}` }] };
    expect(
      done(
        call('send_email', { to: 'a@b.de' }, `Email queued. Message id: MSG-7f2${below}`),
        call('send_email', { to: 'a@b.de' }, `Email queued. Message id: MSG-7f3${below}`),
        call('create_issue', { title: 'Crash' }, parts),
        call('send_reminder', { to: 'a@b.de' }, `Reminder sent.${below}`),
        call('get_email', { to: 'a@b.de' }, `Message id: MSG-7f2${below}`),
      ),
    ).toEqual({
      'send_email a@b.de → Email queued. Message id: MSG-7f2': 'answered',
      'send_email a@b.de → Email queued. Message id: MSG-7f3': 'answered',
      'create_issue Crash → Created ENG-123: Crash at start': 'answered',
      'send_reminder a@b.de → The customer is told within a day. All is well.': 'answered',
    });
  });

  it('quotes what was done and what was not among several things, until all of them are done', () => {
    const ids = { status: 'closed', team: 'a' };
    const partly = { succeeded: 9, failed: 1, errors: [{ id: 704, code: 'LOCKED' }] };
    const name = 'bulk_update_tickets status: closed, team: a';
    const first = call('bulk_update_tickets', ids, partly);
    const imported = { id: 'imp_7', status: 'completed', imported: 288, failed: 12 };
    expect(done(first, call('import_contacts', { file_id: 'f_1' }, imported))).toEqual({
      [`${name} → ${JSON.stringify(partly)}`]: 'answered',
      'import_contacts f_1 → {"id":"imp_7","status":"completed","failed":12}': 'answered',
    });
    expect(done(first, call('bulk_update_tickets', ids, { success: true }))).toEqual({
      [name]: 'passed',
    });
  });

  it('claims no success, and quotes dry runs and the state of things', () => {
    const refund = { order_id: 'ord_9' };
    const tried = { dry_run: true, would_refund: 12.5 };
    expect(
      done(
        call('create_refund', refund, tried),
        call('apply_changes', refund, tried),
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
      'create_refund ord_9 → {"dry_run":true,"would_refund":12.5}': 'answered',
      'apply_changes ord_9 → {"dry_run":true,"would_refund":12.5}': 'answered',
      'create_refund ord_8 → {"id":"re_8","status":"succeeded"}': 'answered',
      'create_refund ord_8 → { "dry_run": true, "would_refund": 12.5 }': 'answered',
      'create_refund ord_7 → {"id":"re_7","state":"held"}': 'answered',
      'create_refund ord_6 → {"id":"re_6","dry_run":true}': 'answered',
      'book_flight X1 → {"status":"WAITLISTED"}': 'answered',
      'update_order_status order: o_1, status: shipped': 'passed',
      'create_event Review → {"created":false,"reason":"conflict"}': 'answered',
      'create_job x → {"id":"j_1"}': 'answered',
    });
  });

  it('distinguishes calls by lists of ids, and quotes of what was made only what the call lacks', () => {
    const tagged = { updated: 1, failed: 1 };
    const made = '{"id":123456789012345678901,"status":"solved","ticket_id":"T-1"}';
    expect(
      done(
        call('bulk_tag', { ids: ['T-1', 'T-2'], tag: 'done' }, tagged),
        call('bulk_tag', { ids: ['T-3', 'T-4'], tag: 'done' }, { updated: 2 }),
        call('delete_rows', { rows: [7, 8] }, 'all gone'),
        call('update_ticket', { ticket_id: 'T-1', status: 'solved' }, made),
        call('update_ticket', { ticket_id: 'T-2', status: 'open' }, { id: 'T-2', status: 'open' }),
      ),
    ).toEqual({
      'bulk_tag ids: T-1, T-2, tag: done → {"updated":1,"failed":1}': 'answered',
      'bulk_tag ids: T-3, T-4, tag: done → {"updated":2}': 'answered',
      'delete_rows rows: 7, 8 → all gone': 'answered',
      'update_ticket ticket_id: T-1, status: solved → {"id":123456789012345678901}': 'answered',
      'update_ticket ticket_id: T-2, status: open → {"id":"T-2","status":"open"}': 'answered',
    });
  });

  it('names the short arguments of a call before long ones', () => {
    const long = { sql: 's'.repeat(78), note: 'n'.repeat(60), limit: 5, force: true };
    const content = { rows: [], nested: [{ id: 1 }], blank: ' ', text: 't'.repeat(81) };
    expect(done(call('apply_sql', { ...long, ...content }, 'done'))).toEqual({
      [`apply_sql note: ${long.note}, limit: 5, force: true`]: 'answered',
    });
  });
});
