/**
 * Ring 0: what every package builds on. Errors with codes, structured logging, injected time, Kubernetes quantities and
 * names, JSON pointer, patch and diff. Pure: no files, no network, and nothing here knows Kubernetes objects or VMs.
 * Start with `errors.ts`.
 */
export { PolyvirtError, defineErrors, describeError, errorKinds, hasCode, type ErrorKind } from "./errors.ts";
export { systemClock, type Clock, type Timer } from "./clock.ts";
export { formatDuration, parseDuration, parseDurationNanoseconds } from "./duration.ts";
export { isJsonObject, jsonEqual, setOwn, type JsonObject, type JsonValue } from "./json.ts";
export { diffJson, type JsonDiffOptions } from "./json-diff.ts";
export { applyJsonPatch, checkPatch, type JsonPatchOperation } from "./json-patch.ts";
export { escapePointerPart, formatPointer, parsePointer, resolvePointer } from "./json-pointer.ts";
export {
  formatLabelSelector,
  matchesLabelSelector,
  matchesRequirements,
  parseLabelSelector,
  requirementsOf,
  type SelectorOperator,
  type SelectorRequirement,
} from "./label-selector.ts";
export { createLogger, silentLogger, type Logger } from "./logger.ts";
export { applyMergePatch, createMergePatch } from "./merge-patch.ts";
export { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "./names.ts";
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityOf,
  quantityOfBytes,
  quantityToInteger,
  quantityToMilli,
  subtractQuantities,
  type Quantity,
} from "./quantity.ts";
