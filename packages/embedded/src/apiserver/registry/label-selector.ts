import { hasCode, matchesLabelSelector, matchesRequirements, parseLabelSelector } from "@polyvirt/core";

import { badRequest } from "../http/status-error.ts";
import { isJsonObject } from "../json.ts";

type Labels = Readonly<Record<string, string>>;
export type LabelMatcher = (labels: Labels) => boolean;

/** Whether labels match a LabelSelector object; a selector without requirements matches everything, none nothing. */
export function matchesSelector(selector: unknown, labels: Labels): boolean {
  if (!isJsonObject(selector)) return false;
  try {
    return matchesLabelSelector(selector, labels);
  } catch (error) {
    if (hasCode(error, "SelectorInvalid")) return false;
    throw error;
  }
}

/** Reads the selector of a list or watch request; undefined selects everything. */
export function labelMatcher(text: string): LabelMatcher | undefined {
  if (text.trim() === "") return undefined;
  try {
    const requirements = parseLabelSelector(text);
    return (labels) => matchesRequirements(requirements, labels);
  } catch (error) {
    if (hasCode(error, "SelectorInvalid")) throw badRequest(String(error.fields["why"]));
    throw error;
  }
}
