// The types of token-file.js, for tests.

import type { TokenList } from '../bench/support/arrange-tokens.js';

export declare function encodeTokenFile(tokens: TokenList): Buffer<ArrayBuffer>;
