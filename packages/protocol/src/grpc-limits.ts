import type { ChannelOptions } from "@grpc/grpc-js";

/** Room for a screenshot or a long list of plug-ins, and a bound on what a peer can make us hold. */
const defaultMaxMessageBytes = 16 * 1024 * 1024;

export function channelOptions(maxMessageBytes = defaultMaxMessageBytes): ChannelOptions {
  return {
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    // Peers are on this machine: come back quickly after they restart.
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.min_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_channelz": 0,
  };
}
