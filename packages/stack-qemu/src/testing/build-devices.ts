import type { Domain } from "@polyvirt/domain";
import { buildArguments } from "../arguments/build-arguments.ts";
import { testHost } from "./machine-host.ts";

/** A machine with nothing in it but what a test puts there. */
export const bareMachine: Domain = {
  type: "qemu",
  name: "vm",
  memory: { value: 64, unit: "MiB" },
  os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
  devices: {},
};

/** What the arguments say for one option, JSON read. */
export function optionsOf(part: Partial<Domain>, option: string): unknown[] {
  const { args } = buildArguments({ ...bareMachine, ...part }, testHost);
  return args.flatMap((arg, index) => {
    if (args[index - 1] !== option) return [];
    return [arg.startsWith("{") ? (JSON.parse(arg) as unknown) : arg];
  });
}
