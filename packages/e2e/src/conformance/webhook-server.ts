import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { run } from "../run.ts";
import type { Target } from "./targets/target.ts";

/** What an API server asks a webhook; statements look into the object freely. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly dryRun?: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- an object of any kind, or null
  readonly object: any;
}

export interface WebhookServer {
  readonly url: string;
  readonly caBundle: string;
  close(): Promise<void>;
}

/** A server for AdmissionReviews on loopback, as both API servers can reach it. `answer` gets the path that was called. */
export async function startWebhookServer(
  target: Target,
  answer: (path: string, request: AdmissionRequest) => object,
): Promise<WebhookServer> {
  const directory = await mkdtemp(join(target.directory, "webhook-"));
  const [key, certificate] = [join(directory, "tls.key"), join(directory, "tls.crt")];
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  args.push("-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate);
  const { code, stderr } = await run("openssl", args);
  if (code !== 0) throw new Error(`openssl made no certificate: ${stderr}`);
  const cert = await readFile(certificate);
  const server = createServer({ key: await readFile(key), cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      // Both API servers send AdmissionReviews of version v1.
      const review = JSON.parse(Buffer.concat(chunks).toString()) as { request: AdmissionRequest };
      const path = new URL(request.url ?? "/", "https://localhost").pathname;
      const { apiVersion, kind } = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
      const answered = { uid: review.request.uid, ...answer(path, review.request) };
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ apiVersion, kind, response: answered }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  // A server that listens on a host and port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: cert.toString("base64"),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
