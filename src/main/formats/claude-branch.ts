// Collects the messages of Claude Code's contexts, one context at a time. Records name their parents, so a session that went back to
// an earlier prompt, or that was resumed as a copy, holds branches that its model no longer sees.

import { asArray, asRecord, asText, type JsonRecord } from '../../shared/json.js';
import type { PlacedRecord } from './format.js';
import { asTimestamp } from './timestamp.js';

/** A message of a context. */
export interface BranchMessage extends PlacedRecord {
  readonly role: 'user' | 'assistant';
  /** Whether the message belongs to an earlier context, from which a compaction kept it. */
  readonly isKept?: boolean;
}

/** The messages of a context, and the number of other messages, which its model no longer saw. */
export interface EndedBranch {
  readonly messages: readonly BranchMessage[];
  readonly abandoned: number;
}

/** A record that others may name as their parent. */
interface Link {
  readonly parent: unknown;
  /** Index of the record's message, or of the next message if the record holds none. */
  readonly at: number;
  readonly isPrompt: boolean;
}

/** Collects the messages of a context. */
export class ClaudeBranch {
  #messages: BranchMessage[] = [];
  #links = new Map<string, Link>();
  #sessionId: string | undefined;
  /** The messages that a compaction kept, and the uuid of the record after which they belong. */
  #kept: { readonly behind: string; readonly messages: readonly BranchMessage[] } | undefined;

  /** Whether a message begins another conversation in the same file. */
  startsConversation({ record }: BranchMessage): boolean {
    return record['parentUuid'] === null && asText(record['sessionId']) !== this.#sessionId;
  }

  /** Notes a record, by default one that holds no message. */
  link({ uuid, parentUuid: parent }: JsonRecord, isPrompt: boolean = false): void {
    if (typeof uuid !== 'string') return;
    this.#links.set(uuid, { parent, at: this.#messages.length, isPrompt });
  }

  add(message: BranchMessage): void {
    const { record } = message;
    this.link(record, isPrompt(message));
    this.#messages.push(message);
    this.#sessionId = asText(record['sessionId']);
    if (record['uuid'] === this.#kept?.behind) this.#addKept();
  }

  /** Ends the context. `boundary` is the record of the compaction that ends it, if there is one. */
  end(boundary: JsonRecord = {}): EndedBranch {
    const ended = this.#branch();
    this.#messages = [];
    this.#links = new Map();
    this.link(boundary);
    this.#kept = keptOf(boundary, ended.messages);
    if (this.#kept?.behind === boundary['uuid']) this.#addKept();
    return ended;
  }

  #addKept(): void {
    const kept = this.#kept?.messages ?? [];
    this.#kept = undefined;
    for (const message of kept) this.add({ ...message, isKept: true });
  }

  /**
   * Returns the messages of the newest branch: leaves out prompts that are no ancestors of the newest message, with all their
   * descendants. Other messages stay even if they are no ancestors, because parallel calls and results each name another parent.
   */
  #branch(): EndedBranch {
    const present = this.#ancestors();
    const promptOf = new Map<string, string | undefined>();
    const messages = this.#messages.filter(({ record }) => {
      const prompt = this.#promptOf(record['uuid'], promptOf);
      return prompt === undefined || present.has(prompt);
    });
    return { messages, abandoned: this.#messages.length - messages.length };
  }

  /** Returns the uuids of the newest message and all its ancestors. */
  #ancestors(): ReadonlySet<string> {
    let newest: BranchMessage | undefined;
    for (const message of this.#messages) {
      if (newest === undefined || timeOf(message) >= timeOf(newest)) newest = message;
    }
    const found = new Set<string>();
    for (let uuid = asText(newest?.record['uuid']); uuid !== undefined && !found.has(uuid);) {
      found.add(uuid);
      const link = this.#links.get(uuid);
      const parent = asText(link?.parent);
      const isRoot = link === undefined || link.parent === null;
      // If the parent was on a damaged line, continue with the message before it.
      const before = isRoot ? undefined : asText(this.#messages[link.at - 1]?.record['uuid']);
      uuid = parent !== undefined && this.#links.has(parent) ? parent : before;
    }
    return found;
  }

  /** Returns the uuid of the nearest prompt among a record and its ancestors, if there is one. `known` caches earlier answers. */
  #promptOf(uuid: unknown, known: Map<string, string | undefined>): string | undefined {
    const path: string[] = [];
    let at = asText(uuid);
    while (at !== undefined && !known.has(at)) {
      known.set(at, undefined);
      path.push(at);
      const link = this.#links.get(at);
      if (link?.isPrompt === true) break;
      at = asText(link?.parent);
    }
    const prompt = at !== undefined && at === path.at(-1) ? at : known.get(at ?? '');
    for (const each of path) known.set(each, prompt);
    return prompt;
  }
}

function timeOf({ record }: BranchMessage): number {
  return asTimestamp(record['timestamp']) ?? -Infinity;
}

/** Whether the user entered a message, as opposed to tool results and messages that the agent wrote itself. */
function isPrompt({ record, role, isKept }: BranchMessage): boolean {
  // Queued prompts, recorded as attachments, do not count: they were sent together with the results next to them.
  if (role !== 'user' || record['type'] !== 'user' || isKept === true) return false;
  if (record['isMeta'] === true || record['isCompactSummary'] === true) return false;
  const parts = asArray(asRecord(record['message'])?.['content']);
  return !parts.some((part) => asRecord(part)?.['type'] === 'tool_result');
}

/** Returns the messages that a compaction keeps: those of a list, or of a range from one uuid to another. */
function keptOf(
  boundary: JsonRecord,
  messages: readonly BranchMessage[],
): { readonly behind: string; readonly messages: readonly BranchMessage[] } | undefined {
  const metadata = asRecord(boundary['compactMetadata']);
  const list = asRecord(metadata?.['preservedMessages']);
  const segment = asRecord(metadata?.['preservedSegment']);
  const behind = asText(list?.['anchorUuid'] ?? segment?.['anchorUuid']);
  if (behind === undefined) return undefined;
  const uuids = messages.map(({ record }) => record['uuid']);
  if (list !== undefined) {
    const kept = new Set(asArray(list['uuids']));
    return { behind, messages: messages.filter((_, at) => kept.has(uuids[at])) };
  }
  const [head, tail] = [uuids.indexOf(segment?.['headUuid']), uuids.indexOf(segment?.['tailUuid'])];
  return head === -1 ? undefined : { behind, messages: messages.slice(head, tail + 1) };
}
