import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const errorKinds = {
  ProtocolUnavailable: {
    meaning: "Nobody answers at the other end of a gRPC socket.",
    action: "Check that the peer named in the message is running; the call is safe to repeat.",
    retry: true,
  },
  ProtocolTimeout: {
    meaning: "A gRPC call was not answered within its time limit.",
    action: "Look at the log of the peer; it may be overloaded or hang on something it waits for.",
    retry: true,
  },
  ProtocolUnimplemented: {
    meaning: "The peer does not offer the method that was called.",
    action: "Use a peer that does, or do without the feature.",
    retry: false,
  },
  ProtocolCallFailed: {
    meaning: "The peer answered a gRPC call with an error.",
    action: "Read the peer's own words in the message; its log has more.",
    retry: true,
  },
  ProtocolMalformed: {
    meaning: "A peer sent something that is not what the contract says.",
    action: "Check the versions of both sides; the message says what is wrong.",
    retry: false,
  },
  ProtocolListenFailed: {
    meaning: "A gRPC server could not listen on its address.",
    action: "Check that the directory exists and that no other process uses the address.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
