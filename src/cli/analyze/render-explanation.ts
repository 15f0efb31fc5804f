// Renders the explanation of one entry as text.

import type { BlockExplanation, EntryExplanation } from '../../density.js';
import type { TranscriptFormat } from '../../transcripts.js';
import { reportHead, sectionsText } from '../terminal/terminal-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';
import { printable } from '../terminal/terminal-text.js';
import {
  formatCount,
  formatNumberOf,
  joined,
  shortenStart,
  wrap,
} from '../terminal/text-layout.js';

/** An edit that has landed. */
export interface LandedEdit {
  /** The model call before which it landed, counted from 1; `null` after the last one. */
  readonly modelCall: number | null;
  readonly step: 'pruned' | 'compressed';
}

/** The data that `--explain --json` prints: tool names, call ids, paths and sizes, but no other content of the session. */
export interface ExplanationReport {
  /** Increased with incompatible changes. */
  readonly reportVersion: 1;
  readonly file: string;
  readonly format: TranscriptFormat;
  /** Number of entries of the session. */
  readonly entries: number;
  readonly explanation: EntryExplanation;
  /** `null` if no edit of this entry has landed. */
  readonly landed: LandedEdit | null;
}

const INDENT = '  ';

const VERDICTS: Readonly<Record<BlockExplanation['verdict'], string>> = {
  kept: 'stays',
  dropped: 'is removed',
  placeholder: 'becomes a placeholder',
  excerpt: 'becomes an excerpt',
  cut: 'is cut out',
  shortened: 'is shortened',
  shrunk: 'is shrunk',
};

const ENTRY_VERDICTS: Readonly<Record<EntryExplanation['verdict'], string>> = {
  kept: 'stays as it is',
  changed: 'stays in part',
  removed: 'is removed',
};

/** Returns the explanation as text that ends with a line break. */
export function renderExplanation(report: ExplanationReport, layout: Layout): string {
  const { index, speaker, verdict, blocks } = report.explanation;
  const facts = [
    report.format,
    `entry ${formatCount(index)} of ${formatCount(report.entries)}, counted from 0`,
    speaker,
    `${ENTRY_VERDICTS[verdict]}${whenOf(report)}`,
  ];
  return sectionsText([
    reportHead('analyze', report.file, facts, layout),
    ...(blocks.length === 0
      ? [
          report.landed?.step === 'compressed'
            ? wrap('A compression removed it or its content.', layout.width)
            : ['The entry is empty.'],
        ]
      : []),
    ...blocks.map((block) => renderBlock(block, layout)),
  ]);
}

/** Returns when the edit landed, or that it is held back. */
function whenOf({ explanation, landed }: ExplanationReport): string {
  if (landed === null) return explanation.verdict === 'kept' ? '' : ' once an edit pays off';
  const { modelCall } = landed;
  return modelCall === null ? ' at the end' : ` before model call ${formatCount(modelCall)}`;
}

function renderBlock(block: BlockExplanation, { width, paint }: Layout): readonly string[] {
  const { toolName, callId, paths, rule, reason } = block;
  const about = [
    ...(toolName === null ? [] : [printable(toolName)]),
    ...(callId === null ? [] : [printable(callId)]),
    ...(paths.length === 0 ? [] : [printable(paths.join(', '))]),
  ];
  const head = `block ${block.block}, ${block.type.replace('_', ' ')}: ${VERDICTS[block.verdict]}`;
  const body = width - INDENT.length;
  return [
    head,
    ...joined(about, body).map((line) => `${INDENT}${shortenStart(line, body)}`),
    ...wrap(printable(block.text), body).map((line) => INDENT + line),
    ...(rule === 'none'
      ? []
      : joined([`${rule}: ${reason}`, ...factsOf(block)], body).map(
          (line) => INDENT + paint('dim', line),
        )),
  ];
}

/** Returns the numbers by which the rule decided. */
function factsOf(block: BlockExplanation): readonly string[] {
  if (block.rule === 'working-set') {
    return [
      `sent ${formatNumberOf(block.age, 'time')}, kept for ${formatCount(block.time)}`,
      `about ${formatCount(block.tokens)} tokens`,
    ];
  }
  return block.rule === 'recency'
    ? [`rank ${formatCount(block.rank)}, the newest ${formatCount(block.retained)} stay`]
    : [];
}
