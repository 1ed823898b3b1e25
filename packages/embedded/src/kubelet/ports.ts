import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret } from "@polyvirt/api/k8s";
import type { EventRecorder } from "@polyvirt/kube";

/** What the kubelet needs of the API server; `api-access.ts` implements it with the client. */
export interface ApiAccess {
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  /** The volume that a claim is bound to; undefined when there is no such claim. */
  claimedVolume(
    namespace: string,
    claim: string,
  ): Promise<{ claim: PersistentVolumeClaim; volume?: PersistentVolume } | undefined>;
  serviceAccountToken(pod: Pod, audience: string | undefined, expirationSeconds: number): Promise<string>;
  /** The pod as it is after the change; undefined when it does not exist any more. */
  patchPodStatus(pod: Pod, status: NonNullable<Pod["status"]>): Promise<Pod | undefined>;
  /** The last step of a deletion. Already gone is fine. */
  deletePod(pod: Pod): Promise<void>;
}

export type EventSink = Pick<EventRecorder, "record">;
