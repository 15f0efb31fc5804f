// Draws docs/tokens-per-turn.svg, or another file: the tokens of each model call in a recorded session, with and without ctxfold.
// Plays the session with the built command; the output is deterministic.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const SESSION = 'examples/sessions/claude-code-pr-review.jsonl';
const PICTURE = process.argv[2] ?? 'docs/tokens-per-turn.svg';

const WIDTH = 760;
const HEIGHT = 300;
const PLOT = { left: 48, right: 150, top: 40, bottom: 34 };
const TICK_TOKENS = 10_000;

const json = execFileSync(
  process.execPath,
  ['dist/cli/main.js', 'replay', SESSION, '--json', '--offload', 'inline'],
  { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
const { modelCalls, input } = JSON.parse(json);
const without = modelCalls.map(({ tokens }) => tokens.without);
const withIt = modelCalls.map(({ tokens }) => tokens.with);
const edited = modelCalls.flatMap(({ edits }, at) => (edits.length > 0 ? [at] : []));

const most = Math.ceil(Math.max(...without) / TICK_TOKENS) * TICK_TOKENS;
const baseline = HEIGHT - PLOT.bottom;
const round = (value) => Math.round(value * 10) / 10;
const x = (at) =>
  round(PLOT.left + (at / (modelCalls.length - 1)) * (WIDTH - PLOT.left - PLOT.right));
const y = (tokens) => round(baseline - (tokens / most) * (baseline - PLOT.top));
const line = (values) => values.map((tokens, at) => `${x(at)},${y(tokens)}`).join(' ');
const area = (values) => `${x(0)},${baseline} ${line(values)} ${x(values.length - 1)},${baseline}`;
const thousands = (tokens) => `${Math.round(tokens / 1_000)}k`;
const percent = (part, whole) => `${Math.round(100 * (1 - part / whole))} %`;

const ticks = Array.from({ length: most / TICK_TOKENS + 1 }, (_, at) => at * TICK_TOKENS);
const end = modelCalls.length - 1;
const last = { without: without[end], withIt: withIt[end] };

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">
<title id="title">Tokens per model call, with ctxfold and without</title>
<desc id="desc">A recorded Claude Code session of ${modelCalls.length} model calls. The last one is sent ${last.withIt} tokens instead of ${last.without}; all together ${input.with} instead of ${input.without}.</desc>
<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.name { font-weight: 600 }
.grid { stroke: #d0d7de; stroke-width: 1 }
.without { fill: none; stroke: #8c959f; stroke-width: 2 }
.with { fill: none; stroke: #0969da; stroke-width: 2.5 }
.area { fill: #0969da; opacity: .16 }
.edit { fill: #0969da }
.head { font-size: 14px; font-weight: 600; fill: #24292f }
.blue { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.grid { stroke: #3d444d }
.without { stroke: #848d97 }
.with { stroke: #4493f8 }
.area { fill: #4493f8 }
.edit { fill: #4493f8 }
.head { fill: #f0f6fc }
.blue { fill: #4493f8 }
}
</style>
<text class="head" x="${PLOT.left}" y="20">Tokens sent per model call, a recorded Claude Code session: ${percent(input.with, input.without)} less in all</text>
${ticks
  .map(
    (tokens) =>
      `<line class="grid" x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${y(tokens)}" y2="${y(tokens)}"/><text x="${PLOT.left - 8}" y="${y(tokens) + 4}" text-anchor="end">${thousands(tokens)}</text>`,
  )
  .join('\n')}
<polygon class="area" points="${area(withIt)}"/>
<polyline class="without" points="${line(without)}"/>
<polyline class="with" points="${line(withIt)}"/>
${edited.map((at) => `<circle class="edit" cx="${x(at)}" cy="${y(withIt[at])}" r="3.5"/>`).join('\n')}
<text class="name" x="${x(end) + 10}" y="${y(last.without) + 4}">without: ${thousands(last.without)}</text>
<text class="name blue" x="${x(end) + 10}" y="${y(last.withIt) + 4}">with ctxfold: ${thousands(last.withIt)}</text>
<text x="${x(0)}" y="${HEIGHT - 12}">call 1</text>
<text x="${x(end)}" y="${HEIGHT - 12}" text-anchor="end">call ${modelCalls.length}</text>
<text x="${(x(0) + x(end)) / 2}" y="${HEIGHT - 12}" text-anchor="middle">● results left that the agent no longer works with</text>
</svg>
`;

writeFileSync(PICTURE, svg);
