/**
 * Ring 3: everything that talks to a Kubernetes API server goes through here. A thin typed client, watches that survive,
 * informers, a rate-limited queue with reconcilers, leader election, events, and X.509 certificates.
 * Must not know VM rules. Start with `client/kube-client.ts`, then `informer/informer.ts` and `controller/controller.ts`.
 */
export { createKubeClient, type KubeClientDeps } from "./client/client.ts";
export type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchRequest,
  RawOptions,
  RawResponse,
} from "./client/kube-client.ts";
export type { ConnectOptions } from "./client/connect.ts";
export { describeTarget, resourcePath } from "./client/resource-path.ts";
export type { WatchEvent, WatchOptions } from "./client/watch.ts";
export { fixedCredentials, type Credentials, type CredentialSource, type KubeConnection } from "./config/connection.ts";
export { inClusterConnection } from "./config/in-cluster.ts";
export { kubeconfigConnection } from "./config/kubeconfig.ts";
export {
  createController,
  type Controller,
  type ControllerOptions,
  type ReconcileResult,
} from "./controller/controller.ts";
export { createWorkQueue, type WorkQueue } from "./controller/work-queue.ts";
export { createObjectWriter, type ObjectWriter } from "./informer/object-writer.ts";
export {
  createInformer,
  keyOf,
  splitKey,
  type Informer,
  type InformerHandler,
  type InformerOptions,
} from "./informer/informer.ts";
export { createEventRecorder, type EventRecorder, type EventType } from "./events.ts";
export { startHealthServer, type HealthServer } from "./health-server.ts";
export { runAsLeader, type LeaderElectionOptions } from "./leader-election.ts";
export { KubeStatusError, errorKinds, statusOf } from "./errors.ts";
export {
  createCertificateAuthority,
  isCertificateGood,
  issueCertificate,
  type CertificateRequest,
  type CertificateUsage,
  type KeyedCertificate,
} from "./x509/certificate.ts";
