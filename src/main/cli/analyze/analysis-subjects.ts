// The subjects of entries and calls. All texts are copied, because a slice of a string keeps the whole
// string in memory as long as the report exists.

import type { ContentBlock, IContent, ToolCatalog } from '../../../index.js';
import type { Subject } from './analysis-report.js';
import { subjectOfCall } from '../measure/call-subject.js';
import type { CallSubject } from '../measure/call-subject.js';

const EXCERPT_LENGTH = 160;

/** The unknown subject. */
export const NO_SUBJECT: Subject = { path: null, excerpt: null };

/** Returns the subjects of all calls, by call id. */
export function subjectsOfCalls(
  entries: readonly IContent[],
  catalog: ToolCatalog,
): ReadonlyMap<string, Subject> {
  const subjects = new Map<string, Subject>();
  for (const block of entries.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'tool_call') continue;
    subjects.set(block.id, copiedSubject(subjectOfCall(block, catalog)));
  }
  return subjects;
}

/** Returns the subject of a block. */
export function subjectOfBlock(
  block: ContentBlock,
  ofCalls: ReadonlyMap<string, Subject>,
): Subject {
  switch (block.type) {
    case 'tool_call':
      return ofCalls.get(block.id) ?? NO_SUBJECT;
    case 'tool_response':
      return ofCalls.get(block.callId) ?? NO_SUBJECT;
    case 'text':
      return { path: null, excerpt: excerptOf(block.text) };
    case 'thinking':
      return { path: null, excerpt: excerptOf(block.thought) };
    case 'code':
      return { path: null, excerpt: excerptOf(block.code) };
    case 'media':
      return { path: block.filename ?? null, excerpt: block.mimeType };
    case 'opaque':
      return { path: null, excerpt: block.kind };
  }
}

/** Copies the subject of a call. */
export function copiedSubject(subject: CallSubject | null): Subject {
  const { path = null, parameter = null } = subject ?? {};
  return {
    path: path === null ? null : copyOf(path),
    excerpt: parameter === null ? null : excerptOf(parameter),
  };
}

function excerptOf(text: string): string {
  return copyOf(text.trimStart().slice(0, EXCERPT_LENGTH));
}

function copyOf(text: string): string {
  return Array.from(text).join('');
}
