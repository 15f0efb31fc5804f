// The script of the live page: shows the gateway's server-sent events and switches its modes. Inserts only text, never markup.

import type { ConversationRecord, GatewayStatus } from '../../../gateway/server/ledger.js';
import {
  formatCount,
  formatDollars,
  formatSaving,
  formatShare,
} from '../../terminal/text-layout.js';
import { cells, clock, dollars, fill, kilobytes, saving, setCells } from './shown.js';

const OBSERVED = 'requests are forwarded unchanged; the figures show what could be saved';
const HELD =
  'The model has reasoned about compacted messages, and would refuse that reasoning behind the original ones.';

/** A conversation with its row, which stays the same element in the same place: calls must not move it away from under the pointer. */
interface Shown {
  readonly row: HTMLTableRowElement;
  readonly name: HTMLButtonElement;
  readonly modes: HTMLSelectElement;
  readonly record: ConversationRecord;
}

const conversations = new Map<string, Shown>();
let status: GatewayStatus | undefined;
let selected: string | undefined;
/** The record whose details are shown. */
let detailed: ConversationRecord | undefined;
let isDue = false;

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

function bodyOf(table: string): HTMLTableSectionElement {
  const [body] = (byId(table) as HTMLTableElement).tBodies;
  if (body === undefined) throw new Error(`The table ${table} has no body.`);
  return body;
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
  const all = Array.from(conversations.values(), ({ record }) => record);
  for (const [id, { row }] of conversations)
    row.querySelector('button')?.setAttribute('aria-pressed', String(id === selected));
  byId('none').hidden = all.length > 0;
  showTotals(all);
  showStatus(all.filter(({ isHeld }) => isHeld).length);
  showDetail(selected === undefined ? undefined : conversations.get(selected)?.record);
}

/** Shows a conversation: a new one above the others. */
function showConversation(record: ConversationRecord): void {
  const { line, calls, usage, mode, isHeld } = record;
  const shown = { ...(conversations.get(line.id) ?? newRow(line.id)), record };
  conversations.set(line.id, shown);
  const { row, name, modes } = shown;
  name.textContent = line.name ?? line.id;
  const { sentTokens, uncompacted } = line.costs;
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  setCells(row, [
    name,
    saving(uncompacted.sentTokens, sentTokens),
    dollars(line.costs.dollars),
    modes,
    line.model ?? line.api,
    formatCount(calls),
    `${formatCount(line.givenMessages)} → ${formatCount(line.sentMessages)}`,
    formatCount(uncompacted.sentTokens),
    formatCount(sentTokens),
    prompt === 0 ? '' : formatShare(usage.cacheReadTokens, prompt),
  ]);
  modes.value = mode;
  modes.disabled = isHeld;
  modes.title = isHeld ? HELD : '';
}

function newRow(id: string): Omit<Shown, 'record'> {
  const row = document.createElement('tr');
  const name = document.createElement('button');
  name.type = 'button';
  // A click on the button arrives here too.
  row.addEventListener('click', () => {
    selected = id;
    byId('original').hidden = true;
    show();
    byId('detail-name').scrollIntoView({ block: 'nearest' });
  });
  bodyOf('conversations').prepend(row);
  const modes = document.createElement('select');
  modes.setAttribute('aria-label', 'mode of this conversation');
  for (const name of ['observe', 'compact']) modes.append(new Option(name));
  modes.addEventListener('click', (event) => {
    event.stopPropagation();
  });
  modes.addEventListener('change', () => {
    void switchMode(modes.value, id);
  });
  return { row, name, modes };
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
  const priced = all.filter(({ line }) => line.costs.dollars !== undefined).length;
  const money = {
    with: sum(({ line }) => line.costs.dollars?.with ?? 0),
    without: sum(({ line }) => line.costs.dollars?.without ?? 0),
  };
  const compared = (before: number, now: number, format: (amount: number) => string): string =>
    `${format(now)} instead of ${format(before)}: ${formatSaving(before, now)}`;
  fill(byId('totals'), [
    [
      priced === all.length ? 'cost of messages' : 'cost of messages, where the price is known',
      priced === 0 ? '' : compared(money.without, money.with, formatDollars),
    ],
    ['tokens of messages', compared(without, sent, formatCount)],
    ['requests', compared(bytes, compacted, kilobytes)],
    ['calls', formatCount(sum(({ calls }) => calls))],
    ['conversations', formatCount(all.length)],
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
    ...failures.map(({ at, message, count }) => {
      const item = document.createElement('li');
      item.textContent = `${clock(at)} ${message}${count > 1 ? ` (${formatCount(count)} times)` : ''}`;
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
  showEdits(line.id, edits);
}

/** Shows the edits of a conversation, the newest first. Rows stay, like those of conversations. */
function showEdits(id: string, edits: ConversationRecord['edits']): void {
  const body = bodyOf('edits');
  const missing = new Map(edits.map((edit) => [JSON.stringify([id, edit]), edit]));
  for (const row of Array.from(body.rows)) {
    if (!missing.delete(row.dataset['edit'] ?? '')) row.remove();
  }
  for (const [key, { number, rule, action, tool = '', before, after }] of missing) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'show';
    button.addEventListener('click', () => void showOriginal(id, number));
    const what = rule === action ? rule : `${rule}: ${action}`;
    const row = cells([what, tool, formatCount(before), formatCount(after), button]);
    row.dataset['edit'] = key;
    body.prepend(row);
  }
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
  showConversation(JSON.parse(data) as ConversationRecord);
  schedule();
});
events.addEventListener('gone', ({ data }: MessageEvent<string>) => {
  const { id } = JSON.parse(data) as { readonly id: string };
  conversations.get(id)?.row.remove();
  conversations.delete(id);
  schedule();
});
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-mode]')) {
  button.addEventListener('click', () => void switchMode(button.dataset['mode'] ?? 'observe'));
}
