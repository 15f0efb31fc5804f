// Which models bind reasoning to all that stands before it: what is edited ahead of it is refused, or has the reasoning
// dropped. Knows names alone, as the documents of Anthropic and OpenAI had them on 2026-11-22.

const BINDING =
  /claude-(?:fable|mythos)-5[-.][12]|claude-(?:opus|sonnet|haiku)-5[-.]5|gpt-6\.2(?!\d)/i;

const MAX_NAME = 500;

/** Whether a model of this name binds its reasoning, whatever route leads to it. */
export function bindsReasoning(modelName: string | undefined): boolean {
  return modelName !== undefined && BINDING.test(modelName.slice(0, MAX_NAME));
}
