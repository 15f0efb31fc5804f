// Shared by all formats: blocks as text, and which entries form one message.

/** The text of a text or code block; empty for other and blank blocks. */
export function textOf(block) {
  if (block.type === 'text') return block.text.trim() === '' ? undefined : block.text;
  if (block.type !== 'code' || block.code.trim() === '') return undefined;
  return `\`\`\`${block.language ?? ''}\n${block.code}\n\`\`\``;
}

/** The non-empty texts of an entry. */
export function textsOf({ blocks }) {
  return blocks.map(textOf).filter((text) => text !== undefined);
}

/** A tool's result or error, as text. */
export function resultText({ result, error }) {
  if (error !== undefined && (result === undefined || result === null || result === '')) {
    return error;
  }
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}

/** Groups the entries that form one message in APIs with alternating roles. */
export function alternatingRuns(history) {
  const runs = [];
  for (const entry of history) {
    const isAssistant = entry.speaker === 'ai';
    const last = runs.at(-1);
    if (last?.isAssistant === isAssistant) last.blocks.push(...entry.blocks);
    else runs.push({ isAssistant, blocks: [...entry.blocks] });
  }
  return runs;
}
