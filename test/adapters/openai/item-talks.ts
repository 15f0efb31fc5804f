// The rules for a list of items, of Responses and of agents, written without the code under test.

/** An item of either format, as plain data. */
export type Item = Readonly<Record<string, unknown>>;

/** Kinds that are removed with all consecutive items of the model or not at all, and never changed. */
const FIXED = new Set(['mcp_approval_request']);

const USER_SIDE = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'function_call_result',
  'computer_call_output',
  'computer_call_result',
  'mcp_approval_response',
]);

/** The kind of an item; for an agent's item, the kind of the provider's item that it holds. */
function kindOf(item: Item): string {
  const inner = item['providerData'] as Item | undefined;
  const kind = item['type'] === 'hosted_tool_call' ? inner?.['type'] : item['type'];
  return typeof kind === 'string' ? kind : 'message';
}

function isFromModel(item: Item): boolean {
  return (
    item['role'] === 'assistant' || (item['role'] === undefined && !USER_SIDE.has(kindOf(item)))
  );
}

/** The runs of consecutive items of the model. */
export function rowsOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const rows: Item[][] = [[]];
  for (const item of items) {
    if (isFromModel(item)) rows.at(-1)?.push(item);
    else if (rows.at(-1)?.length !== 0) rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

/** The id that identifies an item in both lists. */
export function keyOf(item: Item): string {
  const id = item['id'] ?? item['call_id'] ?? item['callId'];
  return `${kindOf(item)} ${JSON.stringify(id ?? item)}`;
}

/**
 * Lists the problems of edited items: outputs without calls and the reverse, reasoning without the item that it led to
 * and the reverse, and runs of items that were only removed in part but have to stay whole.
 */
export function findProblems(standing: readonly Item[], given: readonly Item[]): readonly string[] {
  const problems: string[] = [];
  const kept = new Set(standing.map(keyOf));
  const calls = callIdsOf(standing.filter(isFromModel));
  const answers = callIdsOf(standing.filter((item) => !isFromModel(item)));
  if (calls.join() !== answers.join())
    problems.push(`calls ${calls.join()}, not ${answers.join()}`);
  for (const row of rowsOf(given)) {
    const isFixed = row.some((item) => FIXED.has(kindOf(item)));
    const left = row.filter((item) => kept.has(keyOf(item))).length;
    if (isFixed && left !== 0 && left !== row.length) problems.push('a fixed row lost items');
    for (const [at, item] of row.entries()) {
      if (kindOf(item) !== 'reasoning') continue;
      const ledTo = row.slice(at + 1);
      const end = ledTo.findIndex((other) => kindOf(other) === 'reasoning');
      const next = end === -1 ? ledTo : ledTo.slice(0, end);
      // Consecutive reasoning items count as one.
      if (next.length === 0) continue;
      if (kept.has(keyOf(item)) !== next.some((other) => kept.has(keyOf(other)))) {
        problems.push(`${keyOf(item)} stands apart from what it led to`);
      }
    }
  }
  return problems;
}

function callIdsOf(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (item['call_id'] ?? item['callId'] ?? []) as string[]).sort();
}
