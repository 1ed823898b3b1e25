/** API servers as programs: the embedded one, and etcd with kube-apiserver as its peer. */
export { bundleApiServer, startBundle } from "./embedded.ts";
export { startKubernetes } from "./kubernetes.ts";
export { findKubernetes } from "./kubernetes-binaries.ts";
export type { Target } from "./target.ts";
export { keepAliveAgent, requestOnce } from "../request.ts";
export { openWatch } from "../watch.ts";
