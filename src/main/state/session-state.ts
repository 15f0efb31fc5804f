// The saved state of a session as plain JSON: what another process needs to continue the same history. Packs and validates it.

import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { isRecord } from '../../shared/json.js';
import type { PackedJournal } from '../../shared/state/journal-record.js';
import { textOfFields } from '../../shared/state/canonical-text.js';
import { fromBase64, toBase64 } from '../../shared/state/packed-bytes.js';
import { ENGLISH } from '../host/parse-options.js';
import type { KnownTokens } from '../tokens/token-ledger.js';
import type { HistoryDigests } from './history-digest.js';
import { unpackTokens } from './present-entries.js';

/** Outcomes of requested summaries, in the background or in a turn. */
export interface SummaryCounts {
  /** Summaries by a model that were applied. */
  readonly landed: number;
  /** Background summaries that were discarded: at most one more than have landed. */
  readonly thrownAway: number;
}

/** A requested summary: the numbers of entries added and of edits landed by then, and the time. */
export interface AskedSummary {
  readonly entries: number;
  readonly edits: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** The counts for another process that continues the session. */
export interface SummaryMemory extends SummaryCounts {
  /** A summary that was requested and has not landed. It counts as thrown away. */
  readonly asked?: AskedSummary | undefined;
}

/** The format version that this library writes and reads. */
const STATE_VERSION = 1;

/**
 * What a session has decided and learned. Together with the added entries, it is everything that another process needs to
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
  /** A key of the present entries, which a host may pass instead of the added ones. @default nothing was edited: both are the same */
  readonly standing?: number | undefined;
  /** When it was saved, in milliseconds since the epoch. */
  readonly at: number;
  readonly memory: SessionMemory;
  /** The model of the last request, and what was learned about it. */
  readonly model: ModelMemory;
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
export interface OpenState extends Pick<SessionState, 'standing' | 'at' | 'memory' | 'model'> {
  readonly digests: HistoryDigests;
  readonly journal: PackedJournal;
  /** Tokens by entry; `undefined` if unknown. */
  readonly tokens: KnownTokens;
}

/**
 * Packs a state.
 *
 * @param open `packedTokens` as `PresentEntries` has them
 */
export function sealState(
  open: Omit<OpenState, 'tokens'> & { readonly packedTokens: Uint8Array },
): SessionState {
  const { digests, journal, packedTokens, standing, at, memory, model } = open;
  const { entries, bytes, places } = digests;
  const state = {
    version: STATE_VERSION,
    history: { entries, bytes: toBase64(bytes), places: toBase64(places) },
    journal: { records: toBase64(journal.bytes), texts: [...journal.texts] },
    tokens: toBase64(packedTokens),
    ...(standing !== undefined && { standing }),
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
  if (isNewer(given)) throw newerState();
  try {
    if (given['version'] !== STATE_VERSION || given['checksum'] !== stateChecksum(given)) {
      throw new TypeError('Expected another checksum.');
    }
    const { history: digests, journal, ...rest } = STATE.parse(given, ENGLISH);
    if (digests.bytes.length !== digests.entries)
      throw new RangeError('Expected a byte per entry.');
    return { ...rest, digests, journal: { bytes: journal.records, texts: journal.texts } };
  } catch (cause) {
    throw brokenState({ cause: asError(cause) });
  }
}

/** Whether a state is of a newer format version. */
export function isNewer({ version }: Readonly<Record<string, unknown>>): boolean {
  return typeof version === 'number' && version > STATE_VERSION;
}

/** The error for a state of a newer format version. */
export function newerState(): CtxfoldError {
  const message = `The state is of a newer version; this library reads ${STATE_VERSION}. The session starts without it.`;
  return new CtxfoldError(message, 'STATE_TOO_NEW');
}

/** The error for an invalid state. */
export function brokenState(options?: ErrorOptions): CtxfoldError {
  return new CtxfoldError(
    'The state is none, or was damaged. The session starts without it.',
    'STATE_BROKEN',
    options,
  );
}

/** The checksum of a state. Its own field `checksum` is left out. */
export function stateChecksum(state: Readonly<Record<string, unknown>>): number {
  return crc32(textOfFields(state, 'checksum'));
}

const COUNT = z.number().check(z.nonnegative());
const TALLY = z.tuple([COUNT, COUNT, COUNT, z._default(COUNT, 0), z._default(COUNT, 0)]);
const USAGE = z.tuple([z.number(), COUNT]);
const BYTES = z.pipe(z.string(), z.transform(fromBase64));

/** The checksum detects damage, not malice, so every field that code relies on is validated. */
const STATE = z.object({
  history: z.object({ entries: COUNT, bytes: BYTES, places: BYTES }),
  journal: z.object({ records: BYTES, texts: z.array(z.string()) }),
  tokens: z.pipe(BYTES, z.transform(unpackTokens)),
  standing: z.optional(COUNT),
  at: COUNT,
  memory: z.object({
    sent: z.object({
      entries: COUNT,
      intactEntries: COUNT,
      idleMs: z.nullable(COUNT),
      reclaimedTokens: z.number(),
      staleReasoningFrom: z.optional(COUNT),
      isCached: z.optional(z.boolean()),
      lostEntries: z.optional(COUNT),
    }),
    costs: z.object({
      requests: COUNT,
      rewrites: COUNT,
      carried: z._default(z.number(), 0),
      compacted: TALLY,
      uncompacted: TALLY,
      dollars: z._default(
        z.nullable(
          z.object({
            with: COUNT,
            without: COUNT,
            rules: z.array(z.tuple([z.string(), z.number(), z.number()])),
          }),
        ),
        null,
      ),
    }),
    passes: z.object({ nextPoint: COUNT, isSettled: z.boolean() }),
    floorTokens: z.number(),
    failures: z.optional(z.object({ times: COUNT, at: COUNT })),
    request: z.nullable(
      z.object({ addedSince: COUNT, countedTokens: z.nullable(COUNT), pendingTokens: COUNT }),
    ),
    usage: z._default(
      z.nullable(z.object({ modelName: z.nullable(z.string()), shortest: USAGE, least: USAGE })),
      null,
    ),
    summaries: z.optional(
      z.object({
        landed: COUNT,
        thrownAway: COUNT,
        asked: z.optional(z.object({ entries: COUNT, edits: COUNT, at: COUNT })),
      }),
    ),
    refusing: z.optional(z.array(z.nullable(z.string()))),
  }),
  // States from before a name was saved without anything learned have `null`.
  model: z.pipe(
    z.nullable(z.object({ name: z.nullable(z.string()), ratio: z.number(), observations: COUNT })),
    z.transform((model) => model ?? { name: null, ratio: 1, observations: 0 }),
  ),
});

/** The last sent request. */
export interface SentMemory {
  /** Number of entries sent, and length of the prefix that is unchanged since. */
  readonly entries: number;
  readonly intactEntries: number;
  /** Milliseconds since the request was sent; `null` if nothing was sent. */
  readonly idleMs: number | null;
  readonly reclaimedTokens: number;
  /** Index of the entry from which on reasoning was left behind edits. @default there is none */
  readonly staleReasoningFrom?: number | undefined;
  /** Whether that request was long enough to be cached. @default true */
  readonly isCached?: boolean | undefined;
  /** If the host has changed an entry since, the number of entries that were there then: those not intact are in no cache. */
  readonly lostEntries?: number | undefined;
}

/**
 * Token sums over requests, with or without edits: all tokens, those read from a cache, and those of the last request; of the first
 * two, the parts above a step of the model's price.
 */
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
  /** The part of `spendable` (see `token-tally.ts`) from requests that are not in the totals. @default 0 */
  readonly carried?: number | undefined;
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
  /** Whether the last pass left nothing to do in the entries added by then. */
  readonly isSettled: boolean;
}

/** Consecutive failures: how many, and when the last one was, in milliseconds since the epoch. */
export interface FailureMemory {
  readonly times: number;
  readonly at: number;
}

/** The last request, with which a usage report will be compared. */
export interface RequestMemory {
  /** Entries added since the request. */
  readonly addedSince: number;
  readonly countedTokens: number | null;
  readonly pendingTokens: number;
}

/** The two requests from whose usage a session learns the tokens besides the history; see `LearnedOverhead`. */
export interface UsageMemory {
  readonly modelName: string | null;
  /** For each, the reported tokens without pending ones, and the counted tokens of the history. */
  readonly shortest: readonly [reported: number, counted: number];
  readonly least: readonly [reported: number, counted: number];
}

/** What a session remembers besides its history: the state that its parts keep between two preflights. */
export interface SessionMemory {
  readonly sent: SentMemory;
  readonly costs: CostMemory;
  readonly passes: PassMemory;
  /** Tokens that the history must have for the next compression. */
  readonly floorTokens: number;
  /** Consecutive failures of automatic compressions. @default none */
  readonly failures?: FailureMemory | undefined;
  readonly request: RequestMemory | null;
  /** `null` if nothing was learned: no usage was reported, or only while the host gave `overheadTokens`. @default null */
  readonly usage?: UsageMemory | null | undefined;
  /** Summaries by a model; one that is still being made counts as thrown away. @default none */
  readonly summaries?: SummaryMemory | undefined;
  /** Names of models that have refused reasoning behind an edit; `null` for a model without a name. @default none */
  readonly refusing?: readonly (string | null)[] | undefined;
}
