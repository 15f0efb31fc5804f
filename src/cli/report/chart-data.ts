// The data of the chart in the page: numbers and labels, no content of the session.

/** An edit on the chart. */
export interface ChartMark {
  /** Index of the turn. */
  readonly at: number;
  readonly kind: 'pruned' | 'compressed' | 'fitted';
  /** What the edit did and why. */
  readonly text: string;
}

/** The columns of the chart. All arrays have one value per turn. */
export interface ChartData {
  /** Names of the turns: model calls, counted from 1, then `end`. */
  readonly turns: readonly string[];
  /** Non-empty categories, from the bottom up. `id` selects their colour in the style sheet. */
  readonly layers: readonly {
    readonly id: string;
    readonly label: string;
    readonly tokens: readonly number[];
  }[];
  /** Tokens without ctxfold. */
  readonly without: readonly number[];
  readonly thresholdTokens: number;
  /** Top of the scale in tokens. A threshold far above all turns is off the chart. */
  readonly topTokens: number;
  readonly marks: readonly ChartMark[];
}
