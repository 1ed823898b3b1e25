/** The part of this package that concerns devices of a node, for those who must not know anything else of it. */
export * as devicePluginV1beta1 from "./gen/kubelet/deviceplugin/v1beta1/deviceplugin_pb.ts";
export { createGrpcClient, type GrpcClient } from "./grpc-client.ts";
export { createGrpcServer, type GrpcServer } from "./grpc-server.ts";
export { grpcService } from "./grpc-service.ts";
export { openServerStream } from "./grpc-stream.ts";
