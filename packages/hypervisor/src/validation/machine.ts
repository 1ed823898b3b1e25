import { architectures } from "../architecture.ts";
import { checkDnsLabel, checkDnsSubdomain } from "@polyvirt/core";
import type { Report, Subject, ValidationRule } from "./rule.ts";

function checkArchitecture({ spec, field, architecture }: Subject, report: Report): void {
  if (architecture !== undefined) return;
  report.notSupported(
    `${field}.architecture`,
    `unsupported architecture: ${spec.architecture} (known: ${architectures.join(", ")})`,
  );
}

/** Patterns only know `*` at any place. */
function matches(pattern: string, text: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join(".*")}$`).test(text);
}

function checkMachineType({ spec, field, config, architecture }: Subject, report: Report): void {
  const type = spec.domain.machine?.type;
  if (type === undefined || type === "" || architecture === undefined) return;
  const allowed = config.machines[architecture].emulatedMachines;
  if (allowed.some((pattern) => matches(pattern, type))) return;
  const machineField = `${field}.domain.machine.type`;
  report.invalid(machineField, `${machineField} is not supported: ${type} (allowed values: [${allowed.join(" ")}])`);
}

function checkNames({ spec, field }: Subject, report: Report): void {
  const names = [
    { name: "hostname", value: spec.hostname, rules: "DNS_LABEL", check: checkDnsLabel },
    { name: "subdomain", value: spec.subdomain, rules: "DNS_SUBDOMAIN", check: checkDnsSubdomain },
  ] as const;
  for (const { name, value, rules, check } of names) {
    const problems = value ? check(value) : [];
    if (problems.length > 0) {
      report.invalid(
        `${field}.${name}`,
        `${field}.${name} does not conform to the kubernetes ${rules} rules : ${problems.join(", ")}`,
      );
    }
  }
}

const startStrategies = ["", "Paused"];
const evictionStrategies = ["", "None", "LiveMigrate", "LiveMigrateIfPossible", "External"];
const rebootPolicies = ["", "Reboot", "Terminate"];
const dnsPolicies = ["", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"];

function checkStrategies({ spec, field }: Subject, report: Report): void {
  const startField = `${field}.startStrategy`;
  if (!startStrategies.includes(spec.startStrategy ?? "")) {
    report.invalid(startField, `${startField} is set with an unrecognized option: ${spec.startStrategy}`);
  } else if (spec.startStrategy === "Paused" && spec.livenessProbe !== undefined) {
    report.invalid(
      startField,
      `either ${startField} or ${field}.livenessProbe should be provided.Pausing VMI with LivenessProbe is not supported`,
    );
  }
  if (!evictionStrategies.includes(spec.evictionStrategy ?? "")) {
    report.invalid(
      `${field}.evictionStrategy`,
      `${field}.evictionStrategy is set with an unrecognized option: ${spec.evictionStrategy}`,
    );
  }
  if (!rebootPolicies.includes(spec.domain.rebootPolicy ?? "")) {
    report.invalid(
      `${field}.domain.rebootPolicy`,
      `${field}.domain.rebootPolicy is set with an unrecognized option: ${spec.domain.rebootPolicy}`,
    );
  }
}

function checkDns({ spec, field }: Subject, report: Report): void {
  const policyField = `${field}.dnsPolicy`;
  if (!dnsPolicies.includes(spec.dnsPolicy ?? "")) {
    report.notSupported(policyField, `${policyField} is set with an unrecognized option: ${spec.dnsPolicy}`);
  }
  if (spec.dnsPolicy === "None" && (spec.dnsConfig?.nameservers ?? []).length === 0) {
    report.required(
      `${field}.dnsConfig.nameservers`,
      `must provide at least one DNS nameserver when \`dnsPolicy\` is None`,
    );
  }
}

function checkGracePeriod({ spec, field }: Subject, report: Report): void {
  const seconds = spec.terminationGracePeriodSeconds;
  if (seconds === undefined || (Number.isInteger(seconds) && seconds >= 0)) return;
  const graceField = `${field}.terminationGracePeriodSeconds`;
  report.invalid(graceField, `${graceField} '${seconds}': must be greater than or equal to 0.`);
}

export const machineRules: readonly ValidationRule[] = [
  { name: "architecture", check: checkArchitecture },
  { name: "machine-type", check: checkMachineType },
  { name: "names", check: checkNames },
  { name: "strategies", check: checkStrategies },
  { name: "dns", check: checkDns },
  { name: "grace-period", check: checkGracePeriod },
];
