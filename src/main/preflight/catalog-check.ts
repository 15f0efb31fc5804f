// Compares a host's own tool catalog with the calls that arrive, and warns once per tool whose calls contradict it. Density passes
// treat such a tool as unknown, which is not decided here.

import type { IContent } from '../../shared/content.js';
import { contradicts, fileKeysOf, useOf } from '../../shared/density/index/file-access.js';
import { usesOf } from '../../shared/tool-catalog.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import type { Logger } from '../host/logger.js';

export class CatalogCheck {
  readonly #catalog: ToolCatalog;
  readonly #logger: Logger;
  readonly #seen = new WeakSet<IContent>();
  readonly #warned = new Set<string>();

  constructor(catalog: ToolCatalog, logger: Logger) {
    this.#catalog = catalog;
    this.#logger = logger;
  }

  /** Checks the new entries at the end of a history, back to the first one it has seen. */
  check(entries: readonly IContent[]): void {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      const entry = entries[at];
      if (entry === undefined || this.#seen.has(entry)) return;
      this.#seen.add(entry);
      for (const block of entry.blocks) {
        if (block.type === 'tool_call') this.#checkCall(block.name, block.parameters);
      }
    }
  }

  #checkCall(tool: string, parameters: unknown): void {
    if (this.#warned.has(tool)) return;
    const use = useOf(usesOf(this.#catalog, tool), parameters);
    if (use === undefined || !contradicts(use, parameters)) return;
    this.#warned.add(tool);
    this.#logger.warn(
      'the tool catalog does not fit the calls of a tool, which is taken for one that is not known; say in density.toolCatalog which parameters it has',
      { tool, access: use.access, expected: fileKeysOf(use) },
    );
  }
}
