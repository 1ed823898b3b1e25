import { eventually, type TestCluster } from "./cluster.ts";

export const stacks = ["qemu", "libvirt"] as const;
export type StackName = (typeof stacks)[number];

/** Lets the guests that start from now on use a stack, as an administrator would. */
export async function chooseStack(cluster: TestCluster, stack: StackName): Promise<void> {
  const image = "jsonpath={.spec.template.spec.containers[0].image}";
  const operator = await cluster.kubectl("get", "deployment", "-n", "kubevirt", "virt-operator", "-o", image);
  const version = operator.stdout.split(":").at(-1) ?? "";
  const patch = {
    spec: {
      configuration: {
        developerConfiguration: { featureGates: ["PluginVirtualizationStacks", "MultiArchitectureSoftwareEmulation"] },
        virtualizationProfile: {
          name: stack,
          virtLauncher: { virtLauncherImage: `polyvirt.local/virt-launcher-${stack}:${version}` },
        },
      },
    },
  };
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
