// What the page hands to the script that draws the chart: numbers and labels, nothing of the content.

/** Where an edit landed, and what it was. */
export interface ChartMark {
  /** Index of the turn. */
  readonly at: number;
  readonly kind: 'pruned' | 'compressed' | 'fitted';
  /** What it did and why, for a person. */
  readonly text: string;
}

/** The columns of the chart; all arrays have one value for each turn. */
export interface ChartData {
  /** Names of the turns: model calls counted from 1, and `end`. */
  readonly turns: readonly string[];
  /** Categories that hold anything, from the bottom up; `id` names their colour in the style sheet. */
  readonly layers: readonly {
    readonly id: string;
    readonly label: string;
    readonly tokens: readonly number[];
  }[];
  /** Tokens without ctxfold. */
  readonly without: readonly number[];
  readonly thresholdTokens: number;
  /** Where the scale ends; a threshold far above all turns is not on it. */
  readonly topTokens: number;
  readonly marks: readonly ChartMark[];
}
