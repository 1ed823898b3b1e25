import type { Pod } from "@polyvirt/api/k8s";
import { hostnameOf } from "./container-spec-builder.ts";

/** /etc/hosts of a pod: its own name and address, and those that it asks for, beside the machine's loopback names. */
export function hostsFile(pod: Pod, ip: string): string {
  const hostname = hostnameOf(pod);
  const { subdomain, hostAliases = [] } = pod.spec;
  const domain = `${subdomain}.${pod.metadata.namespace ?? ""}.svc.cluster.local`;
  const names = subdomain === undefined ? [hostname] : [`${hostname}.${domain}`, hostname];
  return [
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    `${ip}\t${names.join("\t")}`,
    ...hostAliases.map((alias) => [alias.ip, ...(alias.hostnames ?? [])].join("\t")),
    "",
  ].join("\n");
}
