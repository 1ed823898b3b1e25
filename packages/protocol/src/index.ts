/**
 * The protobuf contracts between node agent, launcher and plug-ins, and a small typed bridge to gRPC over unix sockets.
 * Package names, method names and field numbers are KubeVirt's, so that either side may be KubeVirt's own.
 * Must not know what the messages are used for: no VM rules, no Kubernetes, no files.
 * Start with proto/kubevirt/cmd/v1/cmd.proto; src/gen is generated from it (`npm run generate`).
 */
export * as cmdV1 from "./gen/kubevirt/cmd/v1/cmd_pb.ts";
export * as cmdInfo from "./gen/kubevirt/cmd/info/info_pb.ts";
export * as notifyV1 from "./gen/kubevirt/notify/v1/notify_pb.ts";
export * as notifyInfo from "./gen/kubevirt/notify/info/info_pb.ts";
export * as capabilitiesV1 from "./gen/kubevirt/capabilities/v1/capabilities_pb.ts";
export * as hooksInfo from "./gen/kubevirt/hooks/info/info_pb.ts";
export * as hooksV1alpha1 from "./gen/kubevirt/hooks/v1alpha1/callbacks_pb.ts";
export * as hooksV1alpha2 from "./gen/kubevirt/hooks/v1alpha2/callbacks_pb.ts";
export * as hooksV1alpha3 from "./gen/kubevirt/hooks/v1alpha3/callbacks_pb.ts";
export * as pluginHooksV1alpha1 from "./gen/kubevirt/hooks/plugins/v1alpha1/hooks_pb.ts";

export { create, fromJson, toJson, type JsonValue } from "@bufbuild/protobuf";
export { createGrpcClient, type GrpcClient } from "./grpc-client.ts";
export { createGrpcServer, type GrpcServer } from "./grpc-server.ts";
export { grpcService, type CallContext, type GrpcService, type ServiceImplementation } from "./grpc-service.ts";
export {
  decodeDomainDocument,
  domainReasons,
  domainStates,
  encodeDomainDocument,
  type DomainDocument,
  type DomainReason,
  type DomainState,
} from "./domain-document.ts";
export { errorKinds } from "./errors.ts";
