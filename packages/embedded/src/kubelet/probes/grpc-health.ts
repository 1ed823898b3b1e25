import type * as http2 from "node:http2";
import type { ProbeResult } from "./probe-verdict.ts";

const path = "/grpc.health.v1.Health/Check";
const serving = 1;
const statusNames = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
const prefixBytes = 5;
const maxAnswerBytes = 64 * 1024;

/** Asks a server's gRPC health service whether it, or one of its services, serves. */
export function probeGrpc(session: http2.ClientHttp2Session, service: string, limitMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const finish = (success: boolean, message: string): void => {
      clearTimeout(timer);
      session.destroy();
      resolve({ success, message });
    };
    const timer = setTimeout(
      () => finish(false, `timeout: health rpc did not complete within ${limitMs / 1000}s`),
      limitMs,
    );
    session.on("error", (error) => finish(false, `error: health rpc failed: ${error.message}`));
    const call = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      "user-agent": "kube-probe/polyvirt",
    });
    let answer: Buffer = Buffer.alloc(0);
    let code = "";
    const readCode = (headers: http2.IncomingHttpHeaders): void => {
      code = String(headers["grpc-status"] ?? code);
    };
    call.on("response", readCode);
    call.on("trailers", readCode);
    call.on("data", (data: Buffer) => {
      if (answer.length < maxAnswerBytes) answer = Buffer.concat([answer, data]);
    });
    call.on("error", (error) => finish(false, `error: health rpc failed: ${error.message}`));
    call.once("close", () => {
      if (code !== "0") return finish(false, `error: health rpc failed with status ${code === "" ? "unknown" : code}`);
      const status = servingStatus(answer.subarray(prefixBytes));
      if (status === serving) return finish(true, "");
      finish(false, `service unhealthy (responded with "${statusNames[status] ?? status}")`);
    });
    call.end(encodeRequest(service));
  });
}

/** `HealthCheckRequest { string service = 1 }` with gRPC's prefix: not compressed, and its length. */
export function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** `HealthCheckResponse { ServingStatus status = 1 }`; an empty message means the first value of the enumeration. */
function servingStatus(message: Buffer): number {
  return message[0] === 0x08 ? (message[1] ?? 0) : 0;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
