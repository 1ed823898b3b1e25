import { kubeVirts, type KubeVirt } from "@polyvirt/api";
import {
  apiVersionOf,
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  deployments,
  namespaces,
  pods,
  roleBindings,
  roles,
  serviceAccounts,
  type KubeObject,
  type ResourceType,
} from "@polyvirt/api/k8s";
import { hasCode, type Clock } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { defaultKubeVirt, defaultNamespace } from "@polyvirt/virt-operator";
import { errors } from "./errors.ts";
import { operatorObjects } from "./operator-objects.ts";
import type { Progress } from "./progress.ts";

interface DeployDependencies {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly version: string;
}

const fieldManager = "polyvirt-cli";
const limitMs = 120_000;
/** Every kind that the operator's manifest holds. */
const manifestTypes: readonly ResourceType[] = [
  namespaces,
  customResourceDefinitions,
  serviceAccounts,
  roles,
  roleBindings,
  clusterRoles,
  clusterRoleBindings,
  deployments,
];

/** Installs virt-operator and a KubeVirt object, as `kubectl apply` would, and waits until the roles are ready. */
export async function deployRoles({ client, clock, progress, version }: DeployDependencies): Promise<void> {
  await progress.step("install virt-operator", async () => {
    for (const object of operatorObjects(version)) {
      await client.apply(typeOf(object), object, { fieldManager, force: true });
    }
    await createKubeVirt(client, clock);
  });
  await progress.step("wait for the roles", (note) => waitForRoles(client, clock, note));
}

function typeOf(object: KubeObject): ResourceType {
  const type = manifestTypes.find((item) => item.kind === object.kind && apiVersionOf(item) === object.apiVersion);
  if (type === undefined) throw errors.CliRolloutFailed(`apply ${object.kind}: this kind is not known to the command`);
  return type;
}

/** An existing object is the administrator's and stays as it is. */
async function createKubeVirt(client: KubeClient, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + limitMs;
  for (;;) {
    try {
      await client.create(kubeVirts, defaultKubeVirt());
      return;
    } catch (error) {
      if (hasCode(error, "KubeAlreadyExists")) return;
      // Right after its definition was created, the kind is served a moment later.
      if (!hasCode(error, "KubeNotFound") || clock.monotonic() > deadline) throw error;
      await clock.sleep(50);
    }
  }
}

async function waitForRoles(client: KubeClient, clock: Clock, note: (text: string) => void): Promise<void> {
  const deadline = clock.monotonic() + limitMs;
  for (;;) {
    const kubevirt = await client.get(kubeVirts, "kubevirt", defaultNamespace);
    const roleProblem = await findProblem(client, kubevirt);
    if (roleProblem === undefined) return;
    note(roleProblem);
    if (clock.monotonic() > deadline) throw errors.CliRolloutFailed(`wait for the roles: ${roleProblem}`);
    await clock.sleep(100);
  }
}

/** What is still missing: the operator's own report first, then pods that are not ready (after a restart, for example). */
async function findProblem(client: KubeClient, kubevirt: KubeVirt): Promise<string | undefined> {
  const { phase = "Deploying", conditions = [] } = kubevirt.status ?? {};
  const degraded = conditions.find((condition) => condition.type === "Degraded" && condition.status === "True");
  if (phase !== "Deployed") return degraded?.message ?? phase;
  const { items } = await client.list(pods, { namespace: defaultNamespace });
  const waiting = items.filter(
    (pod) => !pod.status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
  );
  if (waiting.length > 0) return `${waiting.map((pod) => pod.metadata.name).join(", ")} not ready`;
  return items.length === 0 ? "no pods yet" : undefined;
}
