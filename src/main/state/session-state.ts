// The saved state of a session as plain JSON: what another process needs to continue the same history. Packs and validates it.

import { crc32 } from 'node:zlib';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { isRecord } from '../../shared/json.js';
import type { PackedJournal } from '../../shared/state/journal-record.js';
import { textOfFields } from '../../shared/state/canonical-text.js';
import { fromBase64, toBase64 } from '../../shared/state/packed-bytes.js';
import type { SummaryCounts } from '../preflight/compression-ahead.js';
import { unpackTokens } from '../tokens/packed-tokens.js';
import type { KnownTokens } from '../tokens/token-ledger.js';
import type { HistoryDigests } from './history-digest.js';

/** The format version that this library writes and reads. */
const STATE_VERSION = 1;

/**
 * What a session has decided and learned: together with the entries that were added, everything another process needs to
 * continue. Plain JSON, about four bytes per entry and at most eight per edit. Contains no text of the history except
 * summaries.
 */
export interface SessionState {
  readonly version: 1;
  /** Fingerprint of the added entries: their number, a byte of each entry's hash, and checkpoints of a running hash. */
  readonly history: { readonly entries: number; readonly bytes: string; readonly places: string };
  /** The edits in the order they landed, and the texts of summaries. */
  readonly journal: { readonly records: string; readonly texts: readonly string[] };
  /** Tokens of each present entry. */
  readonly tokens: string;
  /** When it was saved, in milliseconds since the epoch. */
  readonly at: number;
  readonly memory: SessionMemory;
  /** What was learned about the model. */
  readonly model: ModelMemory | null;
  /** CRC of everything else. The order of keys does not matter: databases such as PostgreSQL (`jsonb`) change it. */
  readonly checksum: number;
}

/** The learned ratio of a model's own tokens to counted ones, and the number of observations behind it. */
export interface ModelMemory {
  readonly name: string | null;
  readonly ratio: number;
  readonly observations: number;
}

/** An unpacked state. */
export interface OpenState {
  readonly digests: HistoryDigests;
  readonly journal: PackedJournal;
  /** Tokens by entry; `undefined` if unknown. */
  readonly tokens: KnownTokens;
  readonly at: number;
  readonly memory: SessionMemory;
  readonly model: ModelMemory | null;
}

/**
 * Packs a state.
 *
 * @param state `packedTokens` as `packedTokensOf` returns them
 */
export function sealState({
  digests,
  journal,
  packedTokens,
  at,
  memory,
  model,
}: Omit<OpenState, 'tokens'> & { readonly packedTokens: Uint8Array }): SessionState {
  const { entries, bytes, places } = digests;
  const state = {
    version: STATE_VERSION,
    history: { entries, bytes: toBase64(bytes), places: toBase64(places) },
    journal: { records: toBase64(journal.bytes), texts: [...journal.texts] },
    tokens: toBase64(packedTokens),
    at,
    memory,
    model,
  } as const;
  return { ...state, checksum: stateChecksum(state) };
}

/**
 * Unpacks a state from an untrusted source.
 *
 * @throws CtxfoldError `STATE_TOO_NEW` for a newer format version, `STATE_BROKEN` for anything invalid.
 */
export function openState(given: unknown): OpenState {
  if (!isRecord(given)) throw brokenState();
  const { version } = given;
  if (typeof version === 'number' && version > STATE_VERSION) {
    throw new CtxfoldError(
      `The state is of version ${version}; this library reads ${STATE_VERSION}. The session starts without it.`,
      'STATE_TOO_NEW',
    );
  }
  try {
    if (version !== STATE_VERSION || given['checksum'] !== stateChecksum(given)) {
      throw new TypeError('Expected another checksum.');
    }
    return readState(given as unknown as SessionState);
  } catch (cause) {
    throw brokenState({ cause: asError(cause) });
  }
}

/** The error for an invalid state. */
export function brokenState(options?: ErrorOptions): CtxfoldError {
  return new CtxfoldError(
    'The state is none, or was damaged. The session starts without it.',
    'STATE_BROKEN',
    options,
  );
}

/** The checksum of a state, with or without one. */
export function stateChecksum(state: Readonly<Record<string, unknown>>): number {
  return crc32(textOfFields(state, 'checksum'));
}

/** The checksum detects damage, not malice, so numbers are validated wherever something relies on them. */
function readState({ history, journal, tokens, at, memory, model }: SessionState): OpenState {
  const digests = {
    entries: count(history.entries),
    bytes: fromBase64(history.bytes),
    places: fromBase64(history.places),
  };
  if (digests.bytes.length !== digests.entries) throw new RangeError('Expected a byte per entry.');
  if (!journal.texts.every((text) => typeof text === 'string')) {
    throw new TypeError('Expected texts.');
  }
  return {
    digests,
    journal: { bytes: fromBase64(journal.records), texts: journal.texts },
    tokens: unpackTokens(fromBase64(tokens)),
    at: count(at),
    memory: readMemory(memory),
    model: model === null ? null : readModel(model),
  };
}

function readMemory(memory: SessionMemory): SessionMemory {
  const { sent, costs, passes, floorTokens, request, summaries } = memory;
  const tally = ([all, read, last, ...above]: SessionMemory['costs']['compacted']) =>
    [count(all), count(read), count(last), count(above[0] ?? 0), count(above[1] ?? 0)] as const;
  return {
    sent: {
      entries: count(sent.entries),
      intactEntries: count(sent.intactEntries),
      idleMs: sent.idleMs === null ? null : count(sent.idleMs),
      reclaimedTokens: finite(sent.reclaimedTokens),
    },
    costs: {
      requests: count(costs.requests),
      rewrites: count(costs.rewrites),
      compacted: tally(costs.compacted),
      uncompacted: tally(costs.uncompacted),
      dollars: readDollars(costs.dollars ?? null),
    },
    passes: { nextPoint: count(passes.nextPoint), isSettled: passes.isSettled },
    floorTokens: finite(floorTokens),
    request: request === null ? null : readRequest(request),
    ...(summaries !== undefined && {
      summaries: { landed: count(summaries.landed), thrownAway: count(summaries.thrownAway) },
    }),
  };
}

function readRequest({ addedSince, countedTokens, pendingTokens }: RequestMemory): RequestMemory {
  return {
    addedSince: count(addedSince),
    countedTokens: countedTokens === null ? null : count(countedTokens),
    pendingTokens: count(pendingTokens),
  };
}

function readDollars(dollars: DollarMemory | null): DollarMemory | null {
  if (dollars === null) return null;
  const { with: left, without, rules } = dollars;
  return {
    with: count(left),
    without: count(without),
    rules: rules.map(([rule, tokens, dollars]) => [rule, finite(tokens), finite(dollars)]),
  };
}

function readModel({ name, ratio, observations }: ModelMemory): ModelMemory {
  if (name !== null && typeof name !== 'string') throw new TypeError('Expected a name.');
  return { name, ratio: finite(ratio), observations: count(observations) };
}

function count(value: number): number {
  if (finite(value) >= 0) return value;
  throw new RangeError('Expected a number of at least 0.');
}

function finite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError('Expected a number.');
}

/** The last request. */
export interface SentMemory {
  /** Number of entries sent, and length of the prefix that is unchanged since. */
  readonly entries: number;
  readonly intactEntries: number;
  /** Milliseconds since then; `null` if nothing was sent. */
  readonly idleMs: number | null;
  readonly reclaimedTokens: number;
}

/** Sums over requests of one variant: all tokens, those read from a cache, those of the last request. */
export type TallyMemory = readonly [
  sent: number,
  read: number,
  last: number,
  aboveSent?: number,
  aboveRead?: number,
];

/** What requests have cost so far. */
export interface CostMemory {
  readonly requests: number;
  readonly rewrites: number;
  readonly compacted: TallyMemory;
  readonly uncompacted: TallyMemory;
  /** `null` if a model's price was unknown. @default null */
  readonly dollars?: DollarMemory | null | undefined;
}

/** Input cost in dollars; by rule, tokens removed and dollars saved. */
export interface DollarMemory {
  readonly with: number;
  readonly without: number;
  readonly rules: readonly (readonly [rule: string, tokens: number, dollars: number])[];
}

/** What density passes have covered. */
export interface PassMemory {
  /** The length of the next batch point. */
  readonly nextPoint: number;
  /** Whether the last pass left nothing to do in what had been added by then. */
  readonly isSettled: boolean;
}

/** What a usage report will be compared with. */
export interface RequestMemory {
  /** Entries added since. */
  readonly addedSince: number;
  readonly countedTokens: number | null;
  readonly pendingTokens: number;
}

/** What a session remembers besides its history: the state that its parts keep between two preflights. */
export interface SessionMemory {
  readonly sent: SentMemory;
  readonly costs: CostMemory;
  readonly passes: PassMemory;
  /** Tokens that the history must have for the next compression. */
  readonly floorTokens: number;
  readonly request: RequestMemory | null;
  /** Summaries by a model, of which one that is under way counts as thrown away. @default none */
  readonly summaries?: SummaryCounts | undefined;
}
