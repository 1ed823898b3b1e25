import {
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  serviceAccounts,
  type Condition,
  type KubeObject,
  type Pod,
} from "@polyvirt/api/k8s";
import { hasCode, type Clock } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import type { ApiAccess } from "./ports.ts";
import { TokenCache } from "./token-cache.ts";

/** Reads and writes of the kubelet, over its own client certificate. */
export function createApiAccess(client: KubeClient, clock: Clock): ApiAccess {
  const tokens = new TokenCache(clock);
  return {
    secret: (namespace, name) => orUndefined(client.get(secrets, name, namespace)),
    configMap: (namespace, name) => orUndefined(client.get(configMaps, name, namespace)),
    async claimedVolume(namespace, name) {
      const claim = await orUndefined(client.get(persistentVolumeClaims, name, namespace));
      if (claim === undefined) return undefined;
      const volumeName = claim.spec?.volumeName;
      const bound = claim.status?.phase === "Bound" && volumeName !== undefined;
      const volume = bound ? await orUndefined(client.get(persistentVolumes, volumeName)) : undefined;
      return volume === undefined ? { claim } : { claim, volume };
    },
    serviceAccountToken(pod, audience, expirationSeconds) {
      const key = `${pod.metadata.uid}/${audience ?? ""}/${expirationSeconds}`;
      return tokens.get(key, () => requestToken(client, pod, audience, expirationSeconds));
    },
    async patchPodStatus(pod, status) {
      const { name = "", namespace, uid } = pod.metadata;
      // The UID makes the server refuse a pod that took over the name.
      const body = { metadata: { uid }, status: { ...status, conditions: status.conditions?.map(withoutLeftovers) } };
      const patched = await orUndefined(
        client.patch(pods, name, namespace, { type: "strategic", subresource: "status", body }),
      );
      return patched === undefined ? undefined : typedPod(patched);
    },
    async deletePod(pod) {
      const { name = "", namespace, uid } = pod.metadata;
      tokens.forget(`${uid}/`);
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await orUndefined(client.delete(pods, name, namespace, { gracePeriodSeconds: 0, ...preconditions }));
    },
  };
}

async function requestToken(
  client: KubeClient,
  pod: Pod,
  audience: string | undefined,
  expirationSeconds: number,
): Promise<{ token: string; expiresAt: number }> {
  const name = pod.spec.serviceAccountName ?? "default";
  const target = { name, namespace: pod.metadata.namespace ?? "", subresource: "token" };
  const { status } = await client.createSubresource<{ status?: { token?: string; expirationTimestamp?: string } }>(
    serviceAccounts,
    target,
    {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {
        ...(audience === undefined || audience === "" ? {} : { audiences: [audience] }),
        expirationSeconds,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod.metadata.name, uid: pod.metadata.uid },
      },
    },
  );
  return { token: status?.token ?? "", expiresAt: Date.parse(status?.expirationTimestamp ?? "") || 0 };
}

/** Conditions are merged by type, so a reason that does not hold any more has to be taken away explicitly. */
function withoutLeftovers(condition: Condition): Record<string, unknown> {
  return { reason: null, message: null, ...condition };
}

/** Items of a list carry no kind; events about a pod need one. */
export function typedPod(pod: Pod): Pod {
  return { ...pod, apiVersion: "v1", kind: "Pod" };
}

/** Missing, or there under the same name but with another UID, is the same to the kubelet. */
async function orUndefined<T extends KubeObject | void>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (hasCode(error, "KubeNotFound") || hasCode(error, "KubeConflict")) return undefined;
    throw error;
  }
}
