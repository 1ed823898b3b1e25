import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { eventually, repositoryRoot, type TestCluster } from "./cluster.ts";

export const stacks = ["qemu", "libvirt"] as const;
export type StackName = (typeof stacks)[number];

/** Lets the guests that start from now on use a stack, as an administrator would: with our own example, and another gate. */
export async function chooseStack(cluster: TestCluster, stack: StackName): Promise<void> {
  const example = await readFile(join(repositoryRoot, `examples/stacks/${stack}.yaml`), "utf8");
  // Our own file; the API server validates it.
  const patch = parse(example) as { spec: { configuration: { developerConfiguration: { featureGates: string[] } } } };
  patch.spec.configuration.developerConfiguration.featureGates.push("MultiArchitectureSoftwareEmulation");
  const body = JSON.stringify(patch);
  const patched = await cluster.kubectl("patch", "kubevirt", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", body);
  if (patched.code !== 0) throw new Error(`choose the stack ${stack}: ${patched.stderr}`);
  // Node agents ask the stack's image what it can do before they start: they are replaced.
  await eventually(
    () => cluster.json<NodeAgents>("get", "daemonset", "-n", "kubevirt", "virt-handler"),
    ({ metadata, spec, status }) =>
      spec.template.spec.initContainers?.some(({ image }) => image.includes(`virt-launcher-${stack}:`)) === true &&
      status.observedGeneration === metadata.generation &&
      status.updatedNumberScheduled === status.desiredNumberScheduled &&
      status.numberReady === status.desiredNumberScheduled,
    120_000,
  );
}

interface NodeAgents {
  metadata: { generation: number };
  spec: { template: { spec: { initContainers?: { image: string }[] } } };
  status: {
    observedGeneration?: number;
    desiredNumberScheduled: number;
    updatedNumberScheduled?: number;
    numberReady: number;
  };
}
