/** /etc/hosts of a pod: its own name and address beside the machine's loopback names. */
export function hostsFile(ip: string, hostname: string, subdomain: string | undefined, namespace: string): string {
  const names =
    subdomain === undefined ? [hostname] : [`${hostname}.${subdomain}.${namespace}.svc.cluster.local`, hostname];
  return [
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    `${ip}\t${names.join("\t")}`,
    "",
  ].join("\n");
}
