import type { Container, Pod } from "@polyvirt/api/k8s";
import type { ContainerCredentials } from "@polyvirt/host";
import { errors } from "../errors.ts";

/**
 * What a container may do unless it asks otherwise: the usual set of container runtimes, without making device nodes,
 * because no device control group keeps it from opening what it makes.
 */
const defaultCapabilities = [
  "chown",
  "dac_override",
  "fowner",
  "fsetid",
  "kill",
  "setgid",
  "setuid",
  "setpcap",
  "net_bind_service",
  "net_raw",
  "sys_chroot",
  "audit_write",
  "setfcap",
];

/** The identity and rights that the security contexts of pod and container ask for. */
export function credentialsOf(pod: Pod, container: Container): ContainerCredentials {
  const podContext = pod.spec.securityContext ?? {};
  const own = container.securityContext ?? {};
  const uid = own.runAsUser ?? podContext.runAsUser ?? 0;
  if ((own.runAsNonRoot ?? podContext.runAsNonRoot) === true && uid === 0) {
    throw errors.KubeletPodRefused(
      `container ${container.name} has runAsNonRoot and would run as root: set runAsUser to another user`,
    );
  }
  const groups = new Set(podContext.supplementalGroups ?? []);
  if (podContext.fsGroup !== undefined) groups.add(podContext.fsGroup);
  const gid = own.runAsGroup ?? podContext.runAsGroup ?? 0;
  // It says nothing more, and programs that give up their other groups need a right for that.
  groups.delete(gid);
  return {
    uid,
    gid,
    groups: [...groups],
    ...(own.privileged === true ? {} : { capabilities: capabilitiesOf(own.capabilities) }),
    noNewPrivileges: own.allowPrivilegeEscalation === false && own.privileged !== true,
  };
}

function capabilitiesOf(wanted: { add?: string[]; drop?: string[] } = {}): string[] {
  const names = (list: string[] | undefined): string[] =>
    (list ?? []).map((name) => name.toLowerCase().replace(/^cap_/, ""));
  const drop = names(wanted.drop);
  const kept = drop.includes("all") ? [] : defaultCapabilities.filter((name) => !drop.includes(name));
  const add = names(wanted.add);
  if (add.includes("all")) return ["all"];
  const unknown = add.find((name) => !/^[a-z][a-z_]*$/.test(name));
  if (unknown !== undefined) throw errors.KubeletPodRefused(`capability ${unknown} is unknown: remove it`);
  return [...new Set([...kept, ...add])];
}

/** Fields that this kubelet cannot honour, named instead of ignored. */
export function assertSupported(pod: Pod): void {
  const refused = [
    [
      (pod.spec.securityContext?.sysctls ?? []).length > 0,
      "spec.securityContext.sysctls: pods share the machine's kernel settings",
    ],
    [(pod.spec.runtimeClassName ?? "") !== "", "spec.runtimeClassName: this node has one way to run containers"],
    [pod.spec.hostUsers === false, "spec.hostUsers: false, user namespaces of pods are not available"],
    [(pod.spec.resourceClaims ?? []).length > 0, "spec.resourceClaims: dynamic resource allocation is not available"],
  ] as const;
  for (const [present, why] of refused) {
    if (present) throw errors.KubeletPodRefused(`the pod uses ${why}; remove the field`);
  }
}
