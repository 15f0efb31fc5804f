// Says which entries of a rewritten history were there before, and where.

import type { IContent } from '../../shared/content.js';

/** A list of entries told by another one. */
export interface RewriteSources {
  /** By entry of the new list, an index of the same entry in the former one, or -1. */
  readonly sources: Int32Array;
  /** The entries that the former list does not have, in their order. */
  readonly added: IContent[];
}

/** Compares two lists by the identity of their entries. Linear. */
export function sourcesOfRewrite(
  former: readonly IContent[],
  contents: readonly IContent[],
): RewriteSources {
  const indices = new Map(former.map((entry, index) => [entry, index]));
  const added: IContent[] = [];
  const sources = Int32Array.from(contents, (entry) => {
    const source = indices.get(entry);
    if (source === undefined) added.push(entry);
    return source ?? -1;
  });
  return { sources, added };
}
