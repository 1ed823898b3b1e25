/**
 * What virt-operator sets up and the roles find: names, ports, folders. A pod gets its place in the cluster by the
 * environment (POD_NAME, POD_NAMESPACE, POD_IP, NODE_NAME), never by asking.
 */

/** A certificate folder holds `tls.crt`, `tls.key` and `ca.crt`, the bundle of authorities to trust. */
interface CertificateMount {
  readonly secret: string;
  readonly mountPath: string;
}

export const certificateMounts = {
  /** What virt-api shows to the API server. */
  virtApi: { secret: "kubevirt-virt-api-certs", mountPath: "/etc/virt-api/certificates" },
  /** What virt-handler shows to virt-api; its DNS name is `handlerServerName`. */
  virtHandlerServer: {
    secret: "kubevirt-virt-handler-server-certs",
    mountPath: "/etc/virt-handler/servercertificates",
  },
  /** What virt-api shows to virt-handler; its common name is `handlerClientName`. */
  virtHandlerClient: { secret: "kubevirt-virt-handler-certs", mountPath: "/etc/virt-handler/clientcertificates" },
} as const satisfies Record<string, CertificateMount>;

/** Name to expect in virt-handler's certificate, because it is reached by address. */
export const handlerServerName = "virt-handler";
export const handlerClientName = "kubevirt.io:system:client:virt-handler";

export const virtApiService = "virt-api";

export const ports = {
  /** virt-api: webhooks, subresources, `/healthz`. */
  virtApi: 8443,
  /** virt-handler: consoles and commands, with mutual TLS. */
  virtHandlerConsole: 8186,
  /** virt-controller and virt-handler: `/healthz` and `/readyz` without TLS, on the pod's address. */
  health: 8185,
} as const;

/** Folders that virt-handler shares with its node. */
export const handlerPaths = {
  /** The kubelet's pods, to reach the sockets of launchers. */
  pods: "/pods",
  /** Records that outlive a restart of virt-handler. */
  state: "/var/run/kubevirt",
  devicePlugins: "/var/lib/kubelet/device-plugins",
  /** The kubelet's own folder, to read only: how it hands out CPUs. */
  kubelet: "/kubelet",
  /** What the launcher's image found out about the node. */
  capabilities: "/var/lib/kubevirt-node-labeller",
} as const;

/**
 * Where a node keeps what a launcher's image has found out on it for launchers to come. The image writes there when it is
 * asked what it can do; launchers only read, and do without where they do not see it.
 */
export const launcherCachePath = "/var/cache/polyvirt/launchers";

/** Variable of a role's environment: ES modules with hypervisors out of tree, by path or package, between commas. */
export const hypervisorModulesVariable = "HYPERVISOR_MODULES";
