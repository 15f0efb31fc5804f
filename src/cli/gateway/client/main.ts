// The script of the live page: shows the gateway's server-sent events and switches its modes. Inserts only text, never markup.

import type { ConversationRecord, GatewayStatus } from '../../../gateway/server/ledger.js';
import { formatCount, formatShare } from '../../terminal/text-layout.js';
import { cells, clock, dollars, fill, kilobytes, saving } from './shown.js';

const OBSERVED = 'requests are forwarded unchanged; the figures show what could be saved';
const HELD =
  'The model has reasoned about compacted messages, and would refuse that reasoning behind the original ones.';

const conversations = new Map<string, ConversationRecord>();
let status: GatewayStatus | undefined;
/** Cached row of each record: rebuilding the rows of hundreds of conversations takes longer than the interval between calls. */
const rows = new WeakMap<ConversationRecord, HTMLElement>();
let selected: string | undefined;
/** The record whose details are shown. */
let detailed: ConversationRecord | undefined;
let isDue = false;

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

function bodyOf(table: string): HTMLElement {
  return byId(table).querySelector('tbody') ?? byId(table);
}

function schedule(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    show();
  });
}

function show(): void {
  const all = [...conversations.values()].reverse();
  const table = bodyOf('conversations');
  // Replacing its row would close a mode selector whose list is open.
  if (table.querySelector('select:focus') === null) refill(table, all.map(rowOf));
  byId('none').hidden = all.length > 0;
  showTotals(all);
  showStatus(all.filter(({ isHeld }) => isHeld).length);
  showDetail(selected === undefined ? undefined : conversations.get(selected));
}

/** Sets the rows of a table. Reuses rows that stay, and restores the focus to the row of the same conversation. */
function refill(body: HTMLElement, wanted: readonly HTMLElement[]): void {
  const focused = body.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.closest('tr')?.dataset['id'];
  const kept = new Set<Element>(wanted);
  for (const row of Array.from(body.children)) if (!kept.has(row)) row.remove();
  for (const [at, row] of wanted.entries()) {
    const now = body.children.item(at);
    if (now !== row) body.insertBefore(row, now);
  }
  const row = id === undefined ? undefined : wanted.find(({ dataset }) => dataset['id'] === id);
  const place = focused instanceof HTMLButtonElement ? row?.querySelector('button') : row;
  // Focusing must not scroll away from where the user is reading.
  place?.focus({ preventScroll: true });
}

function rowOf(conversation: ConversationRecord): HTMLElement {
  const row = rows.get(conversation) ?? newRow(conversation);
  rows.set(conversation, row);
  row.setAttribute('aria-selected', String(conversation.line.id === selected));
  return row;
}

function newRow(conversation: ConversationRecord): HTMLElement {
  const { line, calls, usage } = conversation;
  const { sentTokens, uncompacted } = line.costs;
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const row = cells([
    line.name ?? line.id,
    saving(uncompacted.sentTokens, sentTokens),
    dollars(line.costs.dollars),
    modeSelect(conversation),
    line.model ?? line.api,
    formatCount(calls),
    `${formatCount(line.givenMessages)} → ${formatCount(line.sentMessages)}`,
    formatCount(uncompacted.sentTokens),
    formatCount(sentTokens),
    prompt === 0 ? '' : `${formatShare(usage.cacheReadTokens, prompt)} read`,
  ]);
  row.tabIndex = 0;
  row.dataset['id'] = line.id;
  const select = (): void => {
    selected = line.id;
    byId('original').hidden = true;
    schedule();
  };
  row.addEventListener('click', select);
  row.addEventListener('keydown', ({ key, target }) => {
    if (key === 'Enter' && target === row) select();
  });
  return row;
}

function modeSelect({ line, mode, isHeld }: ConversationRecord): HTMLElement {
  const select = document.createElement('select');
  select.disabled = isHeld;
  if (isHeld) select.title = HELD;
  select.setAttribute('aria-label', 'mode of this conversation');
  for (const name of ['observe', 'compact']) {
    const option = new Option(name, name, name === mode, name === mode);
    select.append(option);
  }
  select.addEventListener('click', (event) => {
    event.stopPropagation();
  });
  select.addEventListener('change', () => {
    void switchMode(select.value, line.id);
  });
  select.addEventListener('blur', schedule);
  return select;
}

async function switchMode(mode: string, conversation?: string): Promise<void> {
  await fetch('ctxfold/mode', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode, ...(conversation !== undefined && { conversation }) }),
  });
}

function showTotals(all: readonly ConversationRecord[]): void {
  const sum = (valueOf: (of: ConversationRecord) => number): number =>
    all.reduce((total, of) => total + valueOf(of), 0);
  const without = sum(({ line }) => line.costs.uncompacted.sentTokens);
  const sent = sum(({ line }) => line.costs.sentTokens);
  const [bytes, compacted] = [sum((of) => of.bytes), sum((of) => of.compactedBytes)];
  const priced = all.flatMap(({ line }) => line.costs.dollars ?? []);
  const money =
    priced.length === 0
      ? undefined
      : {
          with: priced.reduce((total, of) => total + of.with, 0),
          without: priced.reduce((total, of) => total + of.without, 0),
        };
  fill(byId('totals'), [
    ['conversations', formatCount(all.length)],
    ['calls', formatCount(sum(({ calls }) => calls))],
    ['tokens of messages without ctxfold', formatCount(without)],
    ['tokens of messages with ctxfold', `${formatCount(sent)} (${saving(without, sent)} less)`],
    ['cost of messages', dollars(money)],
    ['requests as compacted', `${kilobytes(compacted)} (${saving(bytes, compacted)} less)`],
  ]);
}

function showStatus(held: number): void {
  if (status === undefined) return;
  const { mode, passed, failures, failureCount } = status;
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-mode]')) {
    button.setAttribute('aria-pressed', String(button.dataset['mode'] === mode));
  }
  byId('mode-note').textContent =
    mode === 'compact'
      ? 'histories are compacted before forwarding'
      : held === 0
        ? OBSERVED
        : `${OBSERVED}. Compacted to their end: ${formatCount(held)}. ${HELD} A new conversation is observed.`;
  fill(byId('passed'), [
    ...Object.entries(passed).map(([reason, count]): [string, string] => [
      reason,
      formatCount(count),
    ]),
    ['failures', formatCount(failureCount)],
  ]);
  byId('failures').replaceChildren(
    ...failures.map(({ at, message }) => {
      const item = document.createElement('li');
      item.textContent = `${clock(at)} ${message}`;
      return item;
    }),
  );
}

function showDetail(conversation: ConversationRecord | undefined): void {
  if (conversation === detailed) return;
  detailed = conversation;
  byId('detail').hidden = conversation === undefined;
  if (conversation === undefined) return;
  const { line, recent, edits } = conversation;
  byId('detail-name').textContent = line.name ?? line.id;
  bodyOf('calls').replaceChildren(
    ...[...recent]
      .reverse()
      .map((call) =>
        cells([
          clock(call.at),
          kilobytes(call.bytes),
          kilobytes(call.sentBytes),
          call.mode ?? '',
          call.status === undefined ? '' : String(call.status),
          ...[
            call.usage?.inputTokens,
            call.usage?.cacheReadTokens,
            call.usage?.cacheWriteTokens,
            call.usage?.outputTokens,
          ].map((tokens) => (tokens === undefined ? '' : formatCount(tokens))),
          call.miss ?? '',
          formatCount(call.edits),
        ]),
      ),
  );
  refill(
    bodyOf('edits'),
    [...edits].reverse().map((edit) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'show';
      button.addEventListener('click', () => void showOriginal(line.id, edit.number));
      const { rule, action, tool = '', before, after } = edit;
      const row = cells([rule, action, tool, formatCount(before), formatCount(after), button]);
      row.dataset['id'] = String(edit.number);
      return row;
    }),
  );
}

async function showOriginal(conversation: string, edit: number): Promise<void> {
  const asked = new URLSearchParams({ conversation, edit: String(edit) });
  const answer = await fetch(`ctxfold/original?${asked}`);
  const place = byId('original');
  place.hidden = false;
  place.textContent = answer.ok ? await answer.text() : 'This original is no longer kept.';
  place.focus();
}

const events = new EventSource('ctxfold/events');
events.addEventListener('open', () => {
  byId('state').textContent = 'live';
  // The gateway sends all conversations upon connection. Clear the old ones: after a reconnection, it may be another gateway.
  conversations.clear();
  bodyOf('conversations').replaceChildren();
  schedule();
});
events.addEventListener('error', () => {
  byId('state').textContent = 'the gateway does not answer; retrying …';
});
events.addEventListener('status', ({ data }: MessageEvent<string>) => {
  status = JSON.parse(data) as GatewayStatus;
  schedule();
});
events.addEventListener('conversation', ({ data }: MessageEvent<string>) => {
  const conversation = JSON.parse(data) as ConversationRecord;
  conversations.delete(conversation.line.id);
  conversations.set(conversation.line.id, conversation);
  schedule();
});
events.addEventListener('gone', ({ data }: MessageEvent<string>) => {
  conversations.delete((JSON.parse(data) as { readonly id: string }).id);
  schedule();
});
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-mode]')) {
  button.addEventListener('click', () => void switchMode(button.dataset['mode'] ?? 'observe'));
}
