// Which reasoning of a message must be removed because everything that it led to was removed: providers reject reasoning
// that nothing follows.

/** A part of a message, in any format. */
export interface ReasonedPart {
  readonly isReasoning: boolean;
  /** Whether an edit removes it. */
  readonly isRemoved: boolean;
}

/**
 * Returns for each part whether it is reasoning, and all parts between it and the next reasoning are removed. Reasoning without
 * such parts is kept.
 */
export function spentReasoning(parts: readonly ReasonedPart[]): readonly boolean[] {
  const spent = parts.map(() => false);
  let hasFollowing = false;
  let isKept = false;
  for (let at = parts.length - 1; at >= 0; at -= 1) {
    const part = parts[at];
    if (part === undefined) continue;
    if (part.isReasoning) {
      spent[at] = hasFollowing && !isKept;
      // Adjacent reasoning parts share what follows them.
      if (parts[at - 1]?.isReasoning === true) continue;
      hasFollowing = false;
      isKept = false;
    } else {
      hasFollowing = true;
      isKept ||= !part.isRemoved;
    }
  }
  return spent;
}
