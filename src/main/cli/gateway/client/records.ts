// The fields of the gateway's events that the page shows.

export interface Usage {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

export interface Call {
  readonly at: number;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly edits: number;
  readonly mode?: string;
  readonly status?: number;
  readonly usage?: Usage;
  readonly miss?: string;
}

export interface Edit {
  readonly number: number;
  readonly rule: string;
  readonly action: string;
  readonly tool?: string;
  readonly before: number;
  readonly after: number;
}

export interface Conversation {
  readonly line: {
    readonly id: string;
    readonly name?: string;
    readonly api: string;
    readonly model?: string;
    readonly givenMessages: number;
    readonly sentMessages: number;
    readonly costs: {
      readonly sentTokens: number;
      readonly uncompacted: { readonly sentTokens: number };
    };
  };
  readonly mode: string;
  readonly calls: number;
  readonly bytes: number;
  readonly compactedBytes: number;
  readonly recent: readonly Call[];
  readonly edits: readonly Edit[];
  readonly usage: Usage;
  readonly dollars?: { readonly with: number; readonly without: number };
}

export interface Status {
  readonly mode: string;
  readonly passed: Readonly<Record<string, number>>;
  readonly failures: readonly { readonly at: number; readonly message: string }[];
  readonly failureCount: number;
}
