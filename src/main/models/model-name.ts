// Normalizes model ids, as providers, clouds and gateways spell them, to the names that the tables list, and finds them in requests.

import { asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** Longer ids, in UTF-16 units, are cut. */
const MAX_ID = 500;

/** Matches the start of the names in the tables. */
const FAMILY = String.raw`(?:claude|gpt|chatgpt|gemini|grok)-|o[134](?![a-z])`;
/**
 * Matches the route that clouds and gateways prepend: `us.anthropic.`, `openai/`, `anthropic:`, `databricks-`. Not the `ft:` of
 * fine-tuned models, whose prices differ.
 */
const ROUTE = new RegExp(
  `^(?:.*/)?(?:(?!ft:)[a-z0-9_-]+[.:])*(?=${FAMILY})|^(?:.*/)?(?:[a-z]+-+){1,2}(?=claude-(?:[a-z]+-)?\\d)`,
);
/** The route of names that the tables do not list: only a path, and prefixes that end with a dot. */
const OTHER_ROUTE = /^(?:.*\/)?(?:[a-z]+\.)*/;
/** Matches spellings with the version first: `claude-4.5-sonnet` is `claude-sonnet-4-5` elsewhere. */
const VERSION_FIRST = /^claude-(\d+(?:-\d)?)-(fable|mythos|opus|sonnet|haiku)(?![a-z])/;

/** Returns the name of a model without its route, in lower case. Versions of Claude are written with dashes, after the family. */
export function plainModelName(id: string): string {
  const path = id.slice(0, MAX_ID).toLowerCase();
  const route = ROUTE.exec(path) ?? OTHER_ROUTE.exec(path);
  const name = path.slice(route?.[0].length ?? 0);
  if (!name.startsWith('claude-')) return name;
  return name.replace(/(?<=-\d+)\.(?=\d)/, '-').replace(VERSION_FIRST, 'claude-$2-$1');
}

/** Returns the provider of a model: `anthropic`, `openai`, or how the names of other providers' models begin. */
export function providerOf(modelName: string): string {
  const name = plainModelName(modelName);
  if (name.startsWith('claude-')) return 'anthropic';
  if (/^(?:ft:)?(?:(?:chat)?gpt-(?!oss)|o[134](?![a-z]))/.test(name)) return 'openai';
  return name.replace(/[-\d].*/s, '');
}

/** Returns the model in a URL path such as `…/models/claude-opus-5-5@default:rawPredict` or `/model/…/invoke`, if there is one. */
export function modelInPath(path: string): string | undefined {
  // Azure has paths such as `/models/chat/completions`, which name no model.
  const [, model] =
    /\/(?:models\/(?=[^/]*:)|model\/)([^/]+?)(?::[A-Za-z]+|\/[\w-]+)$/.exec(path) ?? [];
  return model?.replace(/%(3A|40|2F)/gi, decodeURIComponent);
}

/** Returns the model of a request: that in its fields, else that in the path of its URL, where clouds and Gemini have it. */
export function modelOfRequest(url: string, fields: JsonRecord): string | undefined {
  return asText(fields['model']) ?? modelInPath(url.replace(/[?#].*/s, ''));
}
