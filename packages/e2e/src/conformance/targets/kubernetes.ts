import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../run.ts";
import { requestOnce } from "../request.ts";
import { startProgram, type ChildProgram } from "./child-program.ts";
import type { KubernetesBinaries } from "./kubernetes-binaries.ts";
import { connectionOf, type Target } from "./target.ts";

/** What of the controller manager belongs to the API as users see it; workloads stay untouched, as on the embedded one. */
const controllers = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "clusterrole-aggregation-controller",
  "root-ca-certificate-publisher-controller",
];

interface KubernetesOptions {
  /** Off for suites, which lose nothing that matters; on where speed is compared. */
  readonly durable: boolean;
  /** Whether namespaces are furnished and emptied and owners' objects collected. */
  readonly housekeeping: boolean;
}

/** etcd, kube-apiserver and the controllers that housekeeping needs, on free loopback ports in a directory of their own. */
export async function startKubernetes(binaries: KubernetesBinaries, options: KubernetesOptions): Promise<Target> {
  const directory = await mkdtemp(join(tmpdir(), "polyvirt-kubernetes-"));
  const programs: ChildProgram[] = [];
  const stop = async () => {
    for (const program of programs.toReversed()) await program.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const etcd = await startEtcd(directory, options, programs);
    const kubeconfig = await startApiServer(binaries.apiServer, directory, etcd, programs);
    if (options.housekeeping) programs.push(await startControllers(binaries.controllerManager, directory, kubeconfig));
    return {
      name: "kubernetes",
      directory,
      kubeconfig,
      connection: connectionOf(readFileSync(kubeconfig, "utf8")),
      // Of the peer we count what serves the API: etcd and kube-apiserver.
      pids: programs.slice(0, 2).map(({ pid }) => pid),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEtcd(directory: string, options: KubernetesOptions, programs: ChildProgram[]): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const args = ["--data-dir", join(directory, "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url];
  args.push("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`);
  if (!options.durable) args.push("--unsafe-no-fsync");
  const ready = () => answers(`${url}/health`);
  programs.push(await startProgram("etcd", args, { log: join(directory, "etcd.log"), ready }));
  return url;
}

async function startApiServer(
  program: string,
  directory: string,
  etcd: string,
  programs: ChildProgram[],
): Promise<string> {
  const port = await freePort();
  const key = join(directory, "service-accounts.key");
  const { code, stderr } = await run("openssl", ["genrsa", "-out", key, "2048"]);
  if (code !== 0) throw new Error(`openssl made no key: ${stderr}`);
  await writeFile(join(directory, "tokens.csv"), 'administrator,admin,admin,"system:masters"\n');
  const certificates = join(directory, "certificates");
  const args = [
    `--etcd-servers=${etcd}`,
    "--bind-address=127.0.0.1",
    // Loopback addresses are refused here; nothing dials it.
    "--advertise-address=192.0.2.1",
    "--endpoint-reconciler-type=none",
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-signing-key-file=${key}`,
    `--service-account-key-file=${key}`,
    `--token-auth-file=${join(directory, "tokens.csv")}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--allow-privileged=true",
  ];
  const kubeconfig = join(directory, "kubeconfig");
  const ready = async () => {
    const certificate = join(certificates, "apiserver.crt");
    if (!existsSync(certificate)) return false;
    await writeFile(kubeconfig, kubeconfigText(`https://127.0.0.1:${port}`, readFileSync(certificate, "utf8")));
    const connection = connectionOf(readFileSync(kubeconfig, "utf8"));
    return requestOnce(connection, "GET", "/readyz").then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  programs.push(await startProgram(program, args, { log: join(directory, "api-server.log"), ready }));
  return kubeconfig;
}

async function startControllers(program: string, directory: string, kubeconfig: string): Promise<ChildProgram> {
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
    `--root-ca-file=${join(directory, "certificates/apiserver.crt")}`,
    `--service-account-private-key-file=${join(directory, "service-accounts.key")}`,
  ];
  const connection = connectionOf(readFileSync(kubeconfig, "utf8"));
  const ready = async () => {
    const path = "/api/v1/namespaces/default/serviceaccounts/default";
    return (await requestOnce(connection, "GET", path)).status === 200;
  };
  return startProgram(program, args, { log: join(directory, "controllers.log"), ready });
}

function kubeconfigText(server: string, authority: string): string {
  const name = "kubernetes";
  const data = Buffer.from(authority).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": data } }],
    users: [{ name, user: { token: "administrator" } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    request(url, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .on("error", () => resolve(false))
      .end();
  });
}

/** A port that was free a moment ago; these programs cannot pick one themselves. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  // A server that listens on a host and port has such an address.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
