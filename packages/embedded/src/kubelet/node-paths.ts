import * as path from "node:path";

/** The layout of a node's folder. */
export interface NodePaths {
  readonly root: string;
  /** What pods see as /var/lib/kubelet. */
  readonly kubelet: string;
  /** hostPath directories that had to be created: `/x` is at `host/x`. */
  readonly host: string;
  podVolumes(uid: string): string;
  volume(uid: string, plugin: string, volume: string): string;
  /** Container processes: shim files and raw output; nothing in here is ever mounted into a container. */
  runtime: string;
  podRuntime(uid: string): string;
  container(uid: string, container: string, attempt: number): string;
  /** Where the control groups of the node's pods lie. */
  readonly groups: string;
  podLogs(uid: string): string;
  log(uid: string, container: string, attempt: number): string;
}

export function nodePaths(root: string): NodePaths {
  const kubelet = path.join(root, "kubelet");
  const runtime = path.join(root, "runtime");
  const podLogs = (uid: string): string => path.join(root, "logs", uid);
  return {
    root,
    kubelet,
    host: path.join(root, "host"),
    runtime,
    podVolumes: (uid) => path.join(kubelet, "pods", uid),
    volume: (uid, plugin, volume) => path.join(kubelet, "pods", uid, "volumes", `kubernetes.io~${plugin}`, volume),
    podRuntime: (uid) => path.join(runtime, uid),
    container: (uid, container, attempt) => path.join(runtime, uid, "containers", container, String(attempt)),
    groups: path.join(root, "cgroups"),
    podLogs,
    log: (uid, container, attempt) => path.join(podLogs(uid), container, `${attempt}.log`),
  };
}
