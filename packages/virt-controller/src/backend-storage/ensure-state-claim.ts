import type { VirtualMachineInstance } from "@polyvirt/api";
import { persistentVolumeClaims, storageClasses, type PersistentVolumeClaim } from "@polyvirt/api/k8s";
import { hasCode } from "@polyvirt/core";
import type { ClusterConfig } from "@polyvirt/hypervisor";
import type { KubeClient } from "@polyvirt/kube";
import {
  pickStateClaim,
  renderStateClaim,
  stateClaimReadiness,
  stateKinds,
  stateLabel,
  stateLabelOf,
  type ClaimReadiness,
} from "./state-claim.ts";

interface StateClaimDeps {
  readonly client: Pick<KubeClient, "get" | "list" | "create">;
  readonly config: Pick<ClusterConfig, "vmStateStorageClass">;
  readonly now: Date;
}

interface FoundStateClaim {
  readonly claim: PersistentVolumeClaim;
  readonly readiness: ClaimReadiness;
}

/** The claim that keeps the guest's state, made if there is none; undefined for a guest whose state goes with its pod. */
export async function ensureStateClaim(
  vmi: VirtualMachineInstance,
  { client, config, now }: StateClaimDeps,
): Promise<FoundStateClaim | undefined> {
  if (stateKinds(vmi).length === 0) return undefined;
  const { namespace } = vmi.metadata;
  const { items } = await client.list(persistentVolumeClaims, {
    ...(namespace === undefined ? {} : { namespace }),
    labelSelector: `${stateLabel}=${stateLabelOf(vmi)}`,
  });
  const claim = pickStateClaim(vmi, items) ?? (await make(vmi, client, config.vmStateStorageClass));
  return { claim, readiness: stateClaimReadiness(claim, await classOf(claim, client), now) };
}

async function make(
  vmi: VirtualMachineInstance,
  client: StateClaimDeps["client"],
  storageClass: string | undefined,
): Promise<PersistentVolumeClaim> {
  const wanted = renderStateClaim(vmi, storageClass);
  try {
    return await client.create(persistentVolumeClaims, wanted);
  } catch (error) {
    // Made by an earlier attempt, whose claim the list did not show yet.
    if (hasCode(error, "KubeAlreadyExists")) {
      return client.get(persistentVolumeClaims, wanted.metadata.name, vmi.metadata.namespace);
    }
    throw error;
  }
}

async function classOf({ spec, status }: PersistentVolumeClaim, client: StateClaimDeps["client"]) {
  const name = spec?.storageClassName;
  if (status?.phase === "Bound" || name === undefined || name === "") return undefined;
  try {
    return await client.get(storageClasses, name);
  } catch (error) {
    if (hasCode(error, "KubeNotFound")) return "missing";
    throw error;
  }
}
