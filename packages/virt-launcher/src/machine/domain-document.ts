import type { DomainDocument } from "@polyvirt/protocol";
import type { RunningDomain } from "@polyvirt/stack";
import type { VmiIdentity } from "../launcher-options.ts";

/** The machine as the node agent wants to hear of it. */
export function describeDomain(vmi: VmiIdentity, domain: RunningDomain, deletedAt?: string): DomainDocument {
  const { definition, status } = domain;
  return {
    kind: "Domain",
    apiVersion: "kubevirt.io/v1",
    ObjectMeta: {
      name: vmi.name,
      namespace: vmi.namespace,
      uid: vmi.uid,
      ...(deletedAt === undefined ? {} : { deletionTimestamp: deletedAt }),
    },
    Spec: {
      Name: definition.name ?? `${vmi.namespace}_${vmi.name}`,
      ...(definition.type === undefined ? {} : { Type: definition.type }),
      ...(definition.uuid === undefined ? {} : { UUID: definition.uuid }),
      Metadata: { KubeVirt: { UID: vmi.uid } },
    },
    Status: { Status: status.state, Reason: status.reason },
    ...(status.message === undefined ? {} : { message: status.message }),
    definition,
  };
}
