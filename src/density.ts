// Pruning and its explanation as pure functions: exports only.

export {
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  isEmptyDensityResult,
  mapIndex,
  PRUNED_POINTER,
  REMOVED_POINTER,
  validateDensityResult,
} from './shared/density.js';
export type {
  DensityBase,
  DensityConfig,
  DensityResult,
  DensityResultMetadata,
  InclusionSyntax,
  PlaceholderForm,
  ShrinkOption,
} from './shared/density.js';
export {
  AGGRESSIVE_WORKING_SET,
  DEFAULT_WORKING_SET,
} from './shared/density/rules/working-set-rules.js';
export type { WorkingSetRules } from './shared/density/rules/working-set-rules.js';
export { explainDensity } from './shared/density/explain/explain-density.js';
export type { DensityExplanation } from './shared/density/explain/explain-density.js';
export type {
  BlockExplanation,
  DensityFinding,
  EntryExplanation,
  ExplainedBlock,
  NoFinding,
} from './shared/density/explain/explanation.js';
export type {
  BlockPlace,
  CallPlace,
  CallPurpose,
  DensityVerdict,
} from './shared/density/rules/finding.js';
export type {
  BlockInclusion,
  FoundInclusion,
  TextInclusion,
} from './shared/density/index/file-inclusions.js';
export { listRuleEdits } from './shared/density/plan/plan.js';
export type { RuleEdit } from './shared/density/plan/plan.js';
export { PRUNING_RULES } from './shared/density/rules/density-rules.js';
export type { PruningRule, RuleFinding, RuleName } from './shared/density/rules/density-rules.js';
export type { FileDedupeFinding } from './shared/density/rules/file-dedupe.js';
export type { EditAction } from './shared/density/rules/marks.js';
export type { ReadWriteFinding } from './shared/density/rules/read-write.js';
export type { RecencyFinding } from './shared/density/rules/recency.js';
export type { ShrinkFinding } from './shared/density/rules/shrink.js';
export type { ShrinkerName, ShrinkLevel } from './shared/shrink/shrinker.js';
export type { WorkingSetFinding, WorkingSetReason } from './shared/density/rules/working-set.js';
export { optimize } from './shared/density/plan/optimize.js';
export type { ResultSize } from './shared/summarize/tool-summary.js';
export { patchedPaths } from './shared/density/index/file-access.js';
