import { serverVersion } from "../routes/health.ts";

export const swaggerProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/**
 * The old document in the only form in which some clients ask for it. It names no schemas: those clients use it when they
 * meet a kind that they do not find elsewhere, and then go on to the server's own answer.
 */
export function swaggerProtobuf(): Buffer {
  const info = Buffer.concat([field(1, "Kubernetes"), field(2, serverVersion.gitVersion)]);
  return Buffer.concat([field(1, "2.0"), field(2, info), field(8, ""), field(9, "")]);
}

/** A length-delimited field; all of ours are shorter than 128 bytes. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}
