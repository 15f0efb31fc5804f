// The arguments of a call, which OpenAI's APIs hold as JSON in a text that the model wrote.

import { parseArguments } from '../../shared/json.js';
import { tryPlainData } from '../plain-data.js';

/** The arguments as data, or as the text where that is no JSON, or JSON that no history can hold. */
export function callArguments(recorded: unknown): unknown {
  const parsed = tryPlainData(parseArguments(recorded));
  return parsed === undefined ? recorded : parsed;
}
