// How many of its own tokens a model makes of one counted token: bookkeeping over what providers
// report. Knows no session and decides nothing.

/**
 * What became of an observation. `learned`: the model's ratio follows it. All others change nothing.
 * `too-small`: fewer counted tokens than tell a ratio from the constants around them. `too-low`: far
 * less was reported than any tokenizer makes of the text, for example without what came from a
 * cache. `too-high`: far more, for example with a system text that `overheadTokens` does not name.
 */
export type ObservationOutcome = 'learned' | 'too-small' | 'too-low' | 'too-high' | 'not-finite';

/** Ratios that two tokenizers can have. */
const MIN_RATIO = 0.25;
const MAX_RATIO = 4;

/** Counted tokens below which constants that nobody counts outweigh the text. */
const MIN_COUNTED_TOKENS = 500;

/** Weight of an observation once there are enough of them; the first ones are averaged. */
const MIN_WEIGHT = 0.05;

/** What was learned about a model. */
export interface Learned {
  readonly ratio: number;
  readonly observations: number;
}

/**
 * One ratio per model: reported tokens per counted token. Source: usage recorded for two Claude
 * models, 1.51 to 1.52 tokens per o200k token on prose, code, JSON and emoji alike. One constant per
 * model takes such a counter from 34 % off to 0.5 % on texts it was not learned from, and does the
 * same for characters over four. So there is nothing to learn per kind of text.
 */
export class TokenCalibration {
  readonly #models = new Map<string | undefined, Learned>();

  /**
   * Enters what a provider reported for text that was counted. The first observation of a model is
   * taken as it is, later ones are averaged in, the twentieth and all that follow with a weight of 0.05.
   *
   * @param modelName `undefined` stands for a model that nobody has named
   */
  observe(
    modelName: string | undefined,
    reportedTokens: number,
    countedTokens: number,
  ): ObservationOutcome {
    if (!Number.isFinite(reportedTokens) || !Number.isFinite(countedTokens)) return 'not-finite';
    if (reportedTokens < 0) return 'too-low';
    if (countedTokens < MIN_COUNTED_TOKENS) return 'too-small';
    const observed = reportedTokens / countedTokens;
    if (observed < MIN_RATIO) return 'too-low';
    if (observed > MAX_RATIO) return 'too-high';
    const { ratio, observations } = this.#models.get(modelName) ?? { ratio: 1, observations: 0 };
    const weight = Math.max(MIN_WEIGHT, 1 / (observations + 1));
    this.#models.set(modelName, {
      ratio: ratio + weight * (observed - ratio),
      observations: observations + 1,
    });
    return 'learned';
  }

  /** What was learned about a model, if anything. */
  learnedOf(modelName: string | undefined): Learned | undefined {
    return this.#models.get(modelName);
  }

  /** Takes what was learned elsewhere, unless more is known here. */
  takeOver(modelName: string | undefined, { ratio, observations }: Learned): void {
    if (!(ratio >= MIN_RATIO && ratio <= MAX_RATIO)) return;
    if ((this.#models.get(modelName)?.observations ?? 0) >= observations) return;
    this.#models.set(modelName, { ratio, observations });
  }

  /** Tokens of the model per counted token, from 0.25 to 4; 1 when nothing was learned about it. */
  ratioOf(modelName: string | undefined): number {
    return this.#models.get(modelName)?.ratio ?? 1;
  }
}
