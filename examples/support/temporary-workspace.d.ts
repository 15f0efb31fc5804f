export interface TemporaryWorkspace {
  /** An absolute path. */
  readonly root: string;
  /** Removes the directory with all that is in it by then. */
  remove(): Promise<void>;
}

/**
 * Makes a directory that holds these files, by path. By default it is a small shop: `README.md`,
 * `package.json`, `src/cart.js`, `src/price.js`, `src/report.js` and `test/price.test.js`, which fails: the
 * discount should begin at ten pieces, and `src/price.js` says `>` where `>=` is meant.
 */
export declare function makeTemporaryWorkspace(
  files?: Readonly<Record<string, string>>,
): Promise<TemporaryWorkspace>;
