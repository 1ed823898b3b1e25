import { optionalParts, type OptionalPart, type Stack } from "./contract.ts";
import { errors } from "./errors.ts";

/** The part of the stack that an operation needs, or a clear refusal that names the stack. */
export function requirePart<Part extends OptionalPart>(
  stack: Stack,
  part: Part,
  operation: string,
): NonNullable<Stack[Part]> {
  const found = stack[part];
  if (found === undefined) {
    throw errors.StackNotSupported(`${operation}: not supported by stack ${stack.name} (it has no ${part})`, {
      fields: { stack: stack.name, part },
    });
  }
  return found;
}

/** What a stack declares to implement beside its life cycle. */
export function implementedParts(stack: Stack): OptionalPart[] {
  return optionalParts.filter((part) => stack[part] !== undefined);
}
