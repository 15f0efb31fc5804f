// Which reasoning of a message has lost what it led to. Providers refuse reasoning that nothing follows, so it goes along.

/** What is looked at of a part of a message, whatever the host. */
export interface LedPart {
  readonly isReasoning: boolean;
  /** Whether an edit takes it away. */
  readonly isGone: boolean;
}

/**
 * Returns by place whether a part is reasoning of which all is gone that stands between it and the next reasoning. Reasoning that
 * led to nothing before any edit is left as it was.
 */
export function spentReasoning(parts: readonly LedPart[]): readonly boolean[] {
  const spent = parts.map(() => false);
  let leads = false;
  let isKept = false;
  for (let at = parts.length - 1; at >= 0; at -= 1) {
    const part = parts[at];
    if (part === undefined) continue;
    if (part.isReasoning) {
      spent[at] = leads && !isKept;
      // What leads to reasoning leads to what that led to.
      if (parts[at - 1]?.isReasoning === true) continue;
      leads = false;
      isKept = false;
    } else {
      leads = true;
      isKept ||= !part.isGone;
    }
  }
  return spent;
}
