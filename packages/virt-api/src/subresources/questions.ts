import type { VirtualMachineInstance } from "@polyvirt/api";
import { Refusal } from "../server/status.ts";
import { checkAgent } from "./commands.ts";
import { checkStream } from "./streams.ts";

/** What must hold before virt-handler is asked about a guest, and what of the client's query it may see. */
interface Question {
  readonly check: (vmi: VirtualMachineInstance) => void;
  readonly parameters?: readonly string[];
}

const questions: Readonly<Record<string, Question>> = {
  guestosinfo: { check: checkAgent },
  userlist: { check: checkAgent },
  filesystemlist: { check: checkAgent },
  "vnc/screenshot": { check: (vmi) => checkStream("vnc", vmi), parameters: ["moveCursor"] },
};

/** The query to pass on, once it is sure that the question makes sense for the VMI now. */
export function checkQuestion(name: string, vmi: VirtualMachineInstance, query: URLSearchParams): URLSearchParams {
  const question = questions[name];
  if (question === undefined) throw new Refusal(501, `virtualmachineinstances/${name} is not served by this version`);
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  question.check(vmi);
  const passed = new URLSearchParams();
  for (const parameter of question.parameters ?? []) {
    const value = query.get(parameter);
    if (value !== null) passed.set(parameter, value);
  }
  return passed;
}
