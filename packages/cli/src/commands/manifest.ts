import { defaultKubeVirt } from "@polyvirt/virt-operator";
import { stringify } from "yaml";
import type { Command } from "../command.ts";
import { errors } from "../errors.ts";
import { operatorObjects } from "../operator-objects.ts";

export const manifest: Command = {
  usage: [
    "usage: polyvirt manifest operator|kubevirt",
    "",
    "  operator   namespace, definition, rights and Deployment of virt-operator",
    "  kubevirt   a KubeVirt object, which makes virt-operator install the rest",
  ].join("\n"),
  completions: ["operator", "kubevirt"],
  async run(args, context) {
    const [what] = args;
    if (what !== "operator" && what !== "kubevirt") throw errors.CliUsage("say which: operator or kubevirt");
    const objects = what === "operator" ? operatorObjects(context.version) : [defaultKubeVirt()];
    for (const object of objects) context.stdout.write(`---\n${stringify(object)}`);
    return 0;
  },
};
