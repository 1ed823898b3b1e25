/** What discovery says about subresources whose kind differs from their resource's. */
export interface SubresourceKind {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export const subresourceKinds: Readonly<Record<string, SubresourceKind>> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
  binding: { kind: "Binding", verbs: ["create"] },
  eviction: { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", verbs: ["create"] },
  log: { kind: "Pod", verbs: ["get"] },
  exec: { kind: "PodExecOptions", verbs: ["create", "get"] },
  attach: { kind: "PodAttachOptions", verbs: ["create", "get"] },
  portforward: { kind: "PodPortForwardOptions", verbs: ["create", "get"] },
  finalize: { kind: "Namespace", verbs: ["update"] },
};
