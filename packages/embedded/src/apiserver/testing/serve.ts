/**
 * The API server alone, as a program: `serve.ts DIRECTORY`. Black-box tests and benchmarks run it, and kill it.
 * It prints one line once requests are served; the administrator's kubeconfig is then in the directory.
 */
import { join } from "node:path";

import { silentLogger } from "@polyvirt/core";

import { createApiServer } from "../create-api-server.ts";

const [directory, port = "0"] = process.argv.slice(2);
if (directory === undefined) throw new Error("usage: serve.ts DIRECTORY [PORT]");
const server = createApiServer({ dataDir: directory, port: Number(port), logger: silentLogger });
await server.start();
server.writeKubeconfig(join(directory, "kubeconfig"));
process.stdout.write(`serving on ${server.url}\n`);
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
