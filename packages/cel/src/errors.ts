import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  CelInvalid: {
    meaning: "A CEL expression does not parse or does not fit the types of its variables.",
    action: "Correct the expression at the place that the message marks with a caret.",
    retry: false,
  },
  CelTooExpensive: {
    meaning: "Evaluating a CEL expression cost more than its limit.",
    action: "Make the expression cheaper (shorter lists, fewer nested macros), or limit the sizes in the schema.",
    retry: false,
  },
  CelFailed: {
    meaning: "A CEL expression compiled, but failed on this input, for example on a missing field.",
    action: "Guard the access with has() or an optional (`.?field`), or correct the object.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
