import type { PolyvirtError } from "@polyvirt/core";
import { errors } from "@polyvirt/stack";

/** Which of the contract's errors libvirt's codes are; every other code is a command that failed. */
const meanings: Readonly<Record<number, keyof typeof errors>> = {
  3: "StackNotSupported", // no support for this function
  27: "StackDefinitionRefused", // XML is not well formed or says something impossible
  35: "StackDefinitionRefused", // detail of an XML error
  42: "StackDomainNotFound",
  67: "StackDefinitionRefused", // unsupported configuration
  68: "StackTimeout",
  74: "StackNotSupported", // argument unsupported
  84: "StackNotSupported", // operation unsupported
  86: "StackGuestAgentUnavailable", // agent unresponsive
  92: "StackDefinitionRefused", // the schema does not allow it
  97: "StackGuestAgentUnavailable", // agent out of step
  99: "StackDomainNotFound", // device missing
};

const maxWords = 2_000;

interface LibvirtFailure {
  readonly code: number;
  readonly message: string | undefined;
}

/** libvirt's refusal in the words of the contract; its own words stay in the message. */
export function stackError(operation: string, failure: LibvirtFailure): PolyvirtError {
  const words = failure.message?.replaceAll("\n", "; ").slice(0, maxWords) ?? "libvirt gives no reason";
  return errors[meanings[failure.code] ?? "StackCommandFailed"](`${operation}: ${words}`, {
    fields: { libvirtCode: failure.code },
  });
}
