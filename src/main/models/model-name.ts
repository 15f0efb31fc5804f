// Model ids as providers, clouds and gateways spell them, reduced to the name that the tables list.

/** Longer ids are cut. */
const MAX_ID = 500;

/** The names that the tables list start like this. */
const FAMILY = String.raw`(?:claude|gpt|chatgpt|gemini|grok)-|o[134](?![a-z])`;
/**
 * What clouds and gateways put in front: `us.anthropic.`, `openai/`, `anthropic:`, `databricks-`. Fine-tuned models cost something
 * else.
 */
const ROUTE = new RegExp(
  `^(?:.*/)?(?:(?!ft:)[a-z0-9_-]+[.:])*(?=${FAMILY})|^(?:.*/)?(?:[a-z]+-+){1,2}(?=claude-(?:[a-z]+-)?\\d)`,
);
/** Otherwise only a path and a provider's name with a dot are taken for one. */
const OTHER_ROUTE = /^(?:.*\/)?(?:[a-z]+\.)*/;
/** `claude-4.5-sonnet` is `claude-sonnet-4-5` elsewhere. */
const VERSION_FIRST = /^claude-(\d+(?:-\d)?)-(fable|mythos|opus|sonnet|haiku)(?![a-z])/;

/** The name of a model without its route, in lower case; versions of Claude have dashes. */
export function plainModelName(id: string): string {
  const path = id.slice(0, MAX_ID).toLowerCase();
  const route = ROUTE.exec(path) ?? OTHER_ROUTE.exec(path);
  const name = path.slice(route?.[0].length ?? 0);
  if (!name.startsWith('claude-')) return name;
  return name.replace(/(?<=-\d+)\.(?=\d)/, '-').replace(VERSION_FIRST, 'claude-$2-$1');
}

/** The model in a path such as `…/models/claude-opus-5-5@default:rawPredict` or `/model/…/invoke`; `undefined` if there is none. */
export function modelInPath(path: string): string | undefined {
  const [, model] = /\/models?\/([^/]+?)(?::[A-Za-z]+|\/[\w-]+)$/.exec(path) ?? [];
  return model?.replace(/%(3A|40|2F)/gi, decodeURIComponent);
}
