import type { LabelSelector, LabelSelectorRequirement, NodeSelectorRequirement } from "@polyvirt/api/k8s";

type Labels = Readonly<Record<string, string>> | undefined;

/** A missing selector matches nothing, an empty one everything, as in Kubernetes. */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels?.[key] === value);
  return equal && (selector.matchExpressions ?? []).every((requirement) => matchesRequirement(requirement, labels));
}

export function matchesRequirement(
  requirement: LabelSelectorRequirement | NodeSelectorRequirement,
  labels: Labels,
): boolean {
  const value = labels?.[requirement.key];
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return compareIntegers(value, values[0], (a, b) => a > b);
    case "Lt":
      return compareIntegers(value, values[0], (a, b) => a < b);
  }
}

function compareIntegers(
  a: string | undefined,
  b: string | undefined,
  test: (a: number, b: number) => boolean,
): boolean {
  if (a === undefined || b === undefined || !/^-?\d+$/.test(a) || !/^-?\d+$/.test(b)) return false;
  return test(Number(a), Number(b));
}
