import * as http from "node:http";
import * as http2 from "node:http2";
import * as https from "node:https";
import * as net from "node:net";
import type { Container, HTTPGetAction, Probe } from "@polyvirt/api/k8s";
import { execInContainer } from "@polyvirt/host";
import type { PodRecord } from "../pod-record.ts";
import { credentialsOf } from "../security.ts";
import { probeGrpc } from "./grpc-health.ts";
import type { ProbeResult } from "./probe-verdict.ts";

const outputBytes = 10 * 1024;

/** Carries a probe out against a pod of this node: exec in the container, the others at the pod's address. */
export async function runProbe(record: PodRecord, container: Container, probe: Probe): Promise<ProbeResult> {
  const limitMs = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.exec !== undefined) return probeExec(record, container, probe.exec.command ?? [], limitMs);
  if (probe.httpGet !== undefined) return probeHttp(record, container, probe.httpGet, limitMs);
  if (probe.tcpSocket !== undefined) {
    const host = probe.tcpSocket.host ?? record.ip;
    return probeTcp(host, portNumber(container, probe.tcpSocket.port), limitMs);
  }
  if (probe.grpc !== undefined) {
    const session = http2.connect(`http://${record.ip}:${probe.grpc.port}`);
    return probeGrpc(session, probe.grpc.service ?? "", limitMs);
  }
  return { success: false, message: "the probe says neither exec, httpGet, tcpSocket nor grpc" };
}

function portNumber(container: Container, port: number | string): number {
  if (typeof port === "number") return port;
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
}

async function probeHttp(
  record: PodRecord,
  container: Container,
  action: HTTPGetAction,
  limitMs: number,
): Promise<ProbeResult> {
  const tls = action.scheme === "HTTPS";
  const headers = Object.fromEntries((action.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = {
    host: action.host ?? record.ip,
    port: portNumber(container, action.port),
    path: action.path ?? "/",
    headers: { "user-agent": "kube-probe/polyvirt", accept: "*/*", ...headers },
    agent: false,
    signal: AbortSignal.timeout(limitMs),
  } as const;
  return new Promise((resolve) => {
    const onAnswer = (answer: http.IncomingMessage): void => {
      answer.destroy();
      const code = answer.statusCode ?? 0;
      const success = code >= 200 && code < 400;
      resolve({ success, message: success ? "" : `HTTP probe failed with statuscode: ${code}` });
    };
    // A probe asks whether the container answers, not who it is: its certificate is its own business.
    const request = tls ? https.get({ ...options, rejectUnauthorized: false }, onAnswer) : http.get(options, onAnswer);
    const url = `${tls ? "https" : "http"}://${options.host}:${options.port}${options.path}`;
    request.on("error", (error) => resolve({ success: false, message: `Get "${url}": ${error.message}` }));
  });
}

async function probeTcp(host: string, port: number, limitMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const finish = (success: boolean, message: string): void => {
      socket.destroy();
      resolve({ success, message });
    };
    socket.setTimeout(limitMs, () => finish(false, `dial tcp ${host}:${port}: i/o timeout`));
    socket.once("connect", () => finish(true, ""));
    socket.once("error", (error) => finish(false, `dial tcp ${host}:${port}: ${error.message}`));
  });
}

async function probeExec(
  record: PodRecord,
  container: Container,
  command: readonly string[],
  limitMs: number,
): Promise<ProbeResult> {
  const process = record.containers.get(container.name)?.process;
  const state = process?.state();
  if (process === undefined || state?.phase !== "running")
    return { success: false, message: "the container does not run" };
  const child = execInContainer({
    directory: process.directory,
    init: state.init,
    command,
    credentials: credentialsOf(record.pod, container),
    privileged: container.securityContext?.privileged === true,
    workingDirectory: container.workingDir ?? "/",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      if (output.length < outputBytes) output += data.toString("utf8");
    });
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve({
        success: false,
        message: `command timed out: ${command.join(" ")} timed out after ${limitMs / 1000}s`,
      });
    }, limitMs);
    child.once("error", (error) => resolve({ success: false, message: error.message }));
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ success: code === 0, message: output.slice(0, outputBytes).trim() });
    });
  });
}
