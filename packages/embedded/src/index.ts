/**
 * Ring 4: a small Kubernetes for one machine. Store and API server, scheduler, workload controllers, kubelets whose pods are
 * local processes. It exists so that one person gets a VM in a minute and every test runs against a real API; it is no
 * distribution, and nothing in here knows what a VM is.
 * Start with `apiserver/create-api-server.ts`, then `kubelet/compose.ts`.
 */
export { serverVersion } from "./apiserver/routes/health.ts";
export { createApiServer, type ApiServer, type ApiServerOptions } from "./apiserver/create-api-server.ts";
export { composeControllers } from "./controllers/compose.ts";
export { errorKinds } from "./errors.ts";
export { importImages, openImageCatalogue, openOciStore, openRegistries, pullImage } from "./images/index.ts";
export { composeNode, type ComposedNode } from "./kubelet/compose.ts";
export { haltNode, haltNodes } from "./kubelet/halt-node.ts";
export {
  freeOctets,
  openPodNetwork,
  podGateway,
  removePodNetwork,
  sharedNetwork,
} from "./kubelet/network/pod-network.ts";
export { composeScheduler } from "./scheduler/compose.ts";
export { noClaims } from "./scheduler/claims.ts";
export { planPreemption } from "./scheduler/preemption.ts";
export { schedule } from "./scheduler/schedule.ts";
export { createSnapshot } from "./scheduler/snapshot.ts";
