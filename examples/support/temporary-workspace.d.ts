export interface TemporaryWorkspace {
  /** An absolute path. */
  readonly root: string;
  /** Removes the directory with everything in it. */
  remove(): Promise<void>;
}

/**
 * Makes a directory with these files, by path. By default a small shop: `README.md`, `package.json`, `src/cart.js`,
 * `src/price.js`, `src/report.js` and `test/price.test.js`, which fails: the discount should begin at ten pieces, but
 * `src/price.js` has `>` instead of `>=`.
 */
export declare function makeTemporaryWorkspace(
  files?: Readonly<Record<string, string>>,
): Promise<TemporaryWorkspace>;
