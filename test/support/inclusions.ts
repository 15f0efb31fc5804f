// File inclusions as hosts write them into user messages.

import type { IContent } from '../../src/shared/content.js';

/** An inclusion inside a text. */
export function frameOf(path: string, content: string): string {
  return `--- ${path} ---\n${content}\n--- End of content ---`;
}

/** The parts of a group of files, as Gemini CLI sends them. */
export function groupOf(
  ...files: readonly (readonly [path: string, content: string])[]
): readonly string[] {
  return [
    '\n--- Content from referenced files ---',
    ...files.flatMap(([path, content]) => [`\nContent from @${path}:\n`, content]),
    '\n--- End of content ---',
  ];
}

/** A user message in several parts. */
export function humanParts(...texts: readonly string[]): IContent {
  return { speaker: 'human', blocks: texts.map((text) => ({ type: 'text', text })) };
}
