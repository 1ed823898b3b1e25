import { defaultKubeVirt } from "@polyvirt/virt-operator";
import { stringify } from "yaml";
import { parseArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { errors } from "../errors.ts";
import { operatorObjects } from "../operator-objects.ts";

export const manifest: Command = {
  usage: [
    "usage: polyvirt manifest operator|kubevirt [--hypervisor-module MODULE]",
    "",
    "  operator   namespace, definition, rights and Deployment of virt-operator",
    "  kubevirt   a KubeVirt object, which makes virt-operator install the rest",
    "",
    "  --hypervisor-module MODULE   an ES module with a hypervisor, by path or package, that all roles load; may be repeated",
  ].join("\n"),
  completions: ["operator", "kubevirt", "--hypervisor-module"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      "hypervisor-module": { type: "string", multiple: true, default: [] },
    });
    const [what] = positionals;
    if (what !== "operator" && what !== "kubevirt") throw errors.CliUsage("say which: operator or kubevirt");
    const objects =
      what === "operator" ? operatorObjects(context.version, values["hypervisor-module"]) : [defaultKubeVirt()];
    for (const object of objects) context.stdout.write(`---\n${stringify(object)}`);
    return 0;
  },
};
