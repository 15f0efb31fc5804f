// The events of a preflight's steps, put together.

import type { CompressedEvent, PrunedEvent, StepEnd, StepReport } from './session-events.js';

/** Returns the event of a step. @throws what the step threw, also after its edit had landed */
export function eventOf<Event>({ event, failure }: StepEnd<Event>): Event {
  if (failure !== undefined || event === undefined) throw failure?.thrown;
  return event;
}

/** Returns the later of the applied events, because callers must follow it; if neither was applied, the later event. */
export function latestApplied(
  later: CompressedEvent | null,
  earlier: CompressedEvent | null,
): CompressedEvent | null {
  if (later?.outcome === 'applied') return later;
  return earlier?.outcome === 'applied' ? earlier : (later ?? earlier);
}

/** Merges the events of two edits of one preflight, in the order in which they landed. */
export function mergedEvents(
  first: PrunedEvent | null,
  second: PrunedEvent | null,
): PrunedEvent | null {
  if (first === null || second === null) return first ?? second;
  const changes = [...first.changes, ...second.changes];
  const { tokensBefore } = first;
  const { tokensAfter } = second;
  return { ...(first.edits.length > 0 ? first : second), changes, tokensBefore, tokensAfter };
}

/** The report of a compression that was held. */
export function heldStep(event: CompressedEvent): StepReport {
  const times = { startTimeMs: Date.now(), durationMs: 0 };
  return { step: 'compressed', event, former: [], isAborted: false, ...times };
}
