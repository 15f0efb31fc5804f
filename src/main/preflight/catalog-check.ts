// Compares a host's own tool catalog with the calls that arrive, and warns once per tool whose calls contradict it. Density passes
// treat such a tool as unknown, which is not decided here.

import { isToolCallBlock } from '../../shared/content.js';
import type { IContent, ToolCallBlock } from '../../shared/content.js';
import { contradicts, fileKeysOf, useOf } from '../../shared/density/index/file-access.js';
import { usesOf } from '../../shared/tool-catalog.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import type { Logger } from '../host/logger.js';

/** Returns a function that checks the new entries at the end of a history, back to the first one it has seen. */
export function catalogCheck(
  catalog: ToolCatalog,
  logger: Logger,
): (entries: readonly IContent[]) => void {
  const seen = new WeakSet<IContent>();
  const warned = new Set<string>();
  const checkCall = ({ name: tool, parameters }: ToolCallBlock): void => {
    if (warned.has(tool)) return;
    const use = useOf(usesOf(catalog, tool), parameters);
    if (use === undefined || !contradicts(use, parameters)) return;
    warned.add(tool);
    logger.warn(
      'the tool catalog does not fit the calls of a tool, which is taken for one that is not known; say in density.toolCatalog which parameters it has',
      { tool, access: use.access, expected: fileKeysOf(use) },
    );
  };
  return (entries) => {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      const entry = entries[at];
      if (entry === undefined || seen.has(entry)) return;
      seen.add(entry);
      entry.blocks.filter(isToolCallBlock).forEach(checkCall);
    }
  };
}
