import type { Probe } from "@polyvirt/api";
import type { Report, Subject, ValidationRule } from "./rule.ts";

const handlers = ["httpGet", "tcpSocket", "exec", "guestAgentPing"] as const satisfies readonly (keyof Probe)[];

function checkProbes({ spec, field }: Subject, report: Report): void {
  const onPodNetwork = (spec.networks ?? []).some(({ pod }) => pod !== undefined);
  for (const name of ["readinessProbe", "livenessProbe"] as const) {
    const probe = spec[name];
    if (probe === undefined) continue;
    const at = `${field}.${name}`;
    const given = handlers.filter((handler) => probe[handler] !== undefined);
    if (given.length > 1) report.invalid(at, `${at} must have exactly one probe type set`);
    if (given.length === 0)
      report.required(at, `either ${at}.tcpSocket, ${at}.exec or ${at}.httpGet must be set if a ${at} is specified`);
    for (const handler of ["httpGet", "tcpSocket"] as const) {
      if (probe[handler] !== undefined && !onPodNetwork) {
        report.invalid(`${at}.${handler}`, `${at}.${handler} is only allowed if the Pod Network is attached`);
      }
    }
    if (probe.exec !== undefined && (probe.exec.command ?? []).length === 0)
      report.required(`${at}.exec.command`, `${at}.exec.command must be set`);
  }
}

export const probeRules: readonly ValidationRule[] = [{ name: "probes", check: checkProbes }];
