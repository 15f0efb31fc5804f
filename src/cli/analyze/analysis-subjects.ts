// The subjects of entries and calls. All texts are copied: V8's substrings reference their parent, so a slice would keep the whole
// string in memory as long as the report exists.

import type { ContentBlock } from '../../index.js';
import type { Subject } from '../measure/call-subject.js';
import { callOf } from '../measure/entry-difference.js';
import { textOf } from '../replay/edit-row.js';

const EXCERPT_LENGTH = 160;

/** Returns the subject of a block. */
export function subjectOfBlock(
  block: ContentBlock,
  ofCalls: ReadonlyMap<string, Subject>,
): Subject {
  const { callId } = callOf(block);
  if (callId !== null) return copiedSubject(ofCalls.get(callId) ?? null);
  if (block.type === 'media') return { path: block.filename ?? null, excerpt: block.mimeType };
  if (block.type === 'opaque') return { path: null, excerpt: block.kind };
  return { path: null, excerpt: excerptOf(textOf(block)) };
}

/** Copies the subject of a call. */
export function copiedSubject(subject: Subject | null): Subject {
  const { path = null, excerpt = null } = subject ?? {};
  return {
    path: path === null ? null : copyOf(path),
    excerpt: excerpt === null ? null : excerptOf(excerpt),
  };
}

function excerptOf(text: string): string {
  return copyOf(text.trimStart().slice(0, EXCERPT_LENGTH));
}

function copyOf(text: string): string {
  return Array.from(text).join('');
}
