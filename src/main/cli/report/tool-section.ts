// What each tool came to, and which rule took what of it.

import { itemOf, RECLAIM_RULES } from '../measure/attribution.js';
import type { ReclaimRule } from '../measure/attribution.js';
import { formatCount } from '../terminal/text-layout.js';
import { html, named, NOTHING } from './html.js';
import type { Markup } from './html.js';
import { formatChange } from './report-page.js';
import type { ReportPage } from './report-page.js';

/** Tools that the table lists; the rest stands in one row. */
const MAX_TOOLS = 60;

interface ToolRow {
  readonly name: string;
  readonly calls: number;
  readonly before: number;
  readonly after: number;
  readonly byRule: ReadonlyMap<ReclaimRule, number>;
}

/** Returns the section. */
export function toolSection(page: ReportPage): Markup {
  const tools = toolRows(page);
  if (tools.length === 0) return NOTHING;
  const rules = RECLAIM_RULES.filter((rule) => tools.some(({ byRule }) => byRule.has(rule)));
  const rest = tools.slice(MAX_TOOLS);
  return html`<section aria-labelledby="h-tools">
    <h2 id="h-tools">Tools</h2>
    <p>
      Tokens of calls and results together: all that were ever made, and what of them is in the
      history at the end. Where one message holds several calls, its tokens are split over them by
      estimate.
    </p>
    <div class="scroll">
      <table class="figures wide" id="tools">
        <caption class="hidden">
          Tokens by tool
        </caption>
        <thead>
          <tr>
            <th scope="col">tool</th>
            <th scope="col">calls</th>
            <th scope="col">before</th>
            <th scope="col">after</th>
            ${rules.map((rule) => html`<th scope="col">${itemOf(rule)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${tools.slice(0, MAX_TOOLS).map((tool) => toolRow(named(tool.name), tool, rules))}
        </tbody>
        <tfoot>
          ${[
            ...(rest.length === 0
              ? []
              : [toolRow(html`${formatCount(rest.length)} more`, sumOf(rest), rules)]),
            toolRow(html`all tools`, sumOf(tools), rules),
          ]}
        </tfoot>
      </table>
    </div>
  </section>`;
}

function toolRow(
  name: Markup,
  { calls, before, after, byRule }: ToolRow,
  rules: readonly ReclaimRule[],
): Markup {
  return html`<tr>
    <th scope="row">${name}</th>
    <td>${formatCount(calls)}</td>
    <td>${formatCount(before)}</td>
    <td>${formatCount(after)}</td>
    ${rules.map((rule) => {
      const tokens = byRule.get(rule);
      return html`<td>${tokens === undefined ? '' : formatChange(-tokens)}</td>`;
    })}
  </tr>`;
}

function toolRows({ recording, rows, label }: ReportPage): readonly ToolRow[] {
  const { toolsWithout, toolsAtEnd } = recording;
  const reclaimed = new Map<string, Map<ReclaimRule, number>>();
  for (const { tool, rule, tokensBefore, tokensAfter } of rows) {
    if (tool === null) continue;
    const byRule = reclaimed.get(tool) ?? new Map<ReclaimRule, number>();
    byRule.set(rule, (byRule.get(rule) ?? 0) + tokensBefore - tokensAfter);
    reclaimed.set(tool, byRule);
  }
  return Array.from(toolsWithout, ([name, { calls, callTokens, resultTokens }]) => {
    const shown = label.ofName(name);
    const before = callTokens + resultTokens;
    const present = toolsAtEnd.get(name);
    return {
      name: shown,
      calls,
      before,
      // An entry's tokens are split over its blocks by estimate: anew when it has lost some of them.
      after: Math.min(before, (present?.callTokens ?? 0) + (present?.resultTokens ?? 0)),
      byRule: reclaimed.get(shown) ?? new Map<ReclaimRule, number>(),
    };
  }).sort((a, b) => b.before - a.before);
}

function sumOf(tools: readonly ToolRow[]): ToolRow {
  const byRule = new Map<ReclaimRule, number>();
  for (const [rule, tokens] of tools.flatMap((tool) => Array.from(tool.byRule))) {
    byRule.set(rule, (byRule.get(rule) ?? 0) + tokens);
  }
  const sum = (key: 'calls' | 'before' | 'after'): number =>
    tools.reduce((total, tool) => total + tool[key], 0);
  return { name: '', calls: sum('calls'), before: sum('before'), after: sum('after'), byRule };
}
