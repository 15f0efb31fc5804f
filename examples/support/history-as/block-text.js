// What every format has in common: how blocks read as text, and which entries make one message.

/** The text of a text or code block; nothing for any other block, and for blank ones. */
export function textOf(block) {
  if (block.type === 'text') return block.text.trim() === '' ? undefined : block.text;
  if (block.type !== 'code' || block.code.trim() === '') return undefined;
  return `\`\`\`${block.language ?? ''}\n${block.code}\n\`\`\``;
}

/** The texts of an entry, one after another. */
export function textsOf({ blocks }) {
  return blocks.map(textOf).filter((text) => text !== undefined);
}

/** What a tool answered, or why it failed, as text. */
export function resultText({ result, error }) {
  if (error !== undefined && (result === undefined || result === null || result === '')) {
    return error;
  }
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}

/** Entries as runs of those that make one message where the roles alternate. */
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
