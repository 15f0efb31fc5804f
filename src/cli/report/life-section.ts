// The lifetime of each result, as a bar over the model calls: from the first call that included it, past the last call with the
// same subject, to the edit that removed it or the end of its context. Works without a script.

import { largestFirst } from '../measure/aggregate.js';
import { formatCount, formatNumberOf } from '../terminal/text-layout.js';
import { callLabels } from './call-chart.js';
import { html, named, NOTHING, percent } from './html.js';
import type { Markup } from './html.js';
import type { ReportPage } from './report-page.js';
import type { ResultLife } from '../replay/result-lives.js';

/** Number of bars that are visible at first, and of all bars. The largest results get a bar. */
const SHOWN_BARS = 20;
const MAX_BARS = 28;

/** Returns the section. */
export function lifeSection(page: ReportPage): Markup {
  const { lives } = page.recording;
  if (lives.length === 0) return NOTHING;
  const largest = largestFirst(lives, ({ tokens }) => tokens).slice(0, MAX_BARS);
  const [shown, more] = [largest.slice(0, SHOWN_BARS), largest.slice(SHOWN_BARS)];
  const edited = lives.filter(({ rule }) => rule !== null).length;
  return html`<section aria-labelledby="h-life">
    <h2 id="h-life">The life of each result</h2>
    <p>
      Edits removed or shortened ${formatCount(edited)} of
      ${formatNumberOf(lives.length, 'result')}.
      ${lives.length > shown.length ? `These are the ${shown.length} largest.` : ''}
    </p>
    <ul class="legend">
      <li><i class="swatch used"></i>until its last use</li>
      <li><i class="swatch idle"></i>sent after that</li>
      <li><i class="swatch thin stub"></i>shortened by an edit</li>
      <li><i class="swatch thin spared"></i>no longer sent</li>
    </ul>
    ${axis(page)}
    <ol class="lives" id="lives">
      ${shown.map((life) => bar(page, life))}
    </ol>
    ${
      more.length === 0
        ? NOTHING
        : html`<details>
            <summary>${formatNumberOf(more.length, 'smaller result')}</summary>
            <ol class="lives">
              ${more.map((life) => bar(page, life))}
            </ol>
          </details>`
    }
  </section>`;
}

function bar({ label, chart }: ReportPage, life: ResultLife): Markup {
  const turns = chart.turns.length;
  const { birth, lastUse, shortened, removed, tokens } = life;
  const whole = shortened ?? removed ?? turns;
  const used = Math.min(lastUse + 1, whole);
  const gone = removed ?? turns;
  const when = (word: string, turn: number): string => {
    const name = chart.turns[turn] ?? 'end';
    return name === 'end' ? 'after the last call' : `${word} call ${name}`;
  };
  const subject = life.subject === null ? '' : label.ofCall(life.subject);
  const words = [
    `first sent ${when('with', birth)}`,
    ...(lastUse > birth ? [`last used ${when('by', lastUse)}`] : []),
    ...(shortened === null
      ? []
      : [shortened === birth ? 'shortened before that' : `shortened ${when('before', shortened)}`]),
    ...(removed === null ? [] : [`no longer sent ${when('with', removed)}`]),
  ].join(', ');
  const part = (kind: string, from: number, to: number, height: number): Markup =>
    to <= from
      ? NOTHING
      : html`<rect
          class="${kind}"
          x="${percent(from, turns)}"
          width="${percent(to - from, turns)}"
          y="${7 - height / 2}"
          height="${height}"
        />`;
  return html`<li>
    <span><b>${named(label.ofName(life.tool), 40)}</b> ${named(subject)}</span>
    <i>${formatCount(tokens)}</i>
    <svg role="img">
      <title>${words}</title>
      ${[
        part('spared', whole, turns, 1),
        part('stub', whole, gone, 3),
        part('idle', used, whole, 12),
        part('used', birth, used, 12),
      ]}
    </svg>
  </li>`;
}

function axis({ chart }: ReportPage): Markup {
  return html`<div class="lives axis" aria-hidden="true">
    <span>result</span><i>tokens</i>
    <svg>${callLabels(chart.turns, 11)}</svg>
  </div>`;
}
