import { bytesOf, isQuantity } from "../quantity.ts";
import { memoryBlockBytes } from "../defaults/hotplug.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

const oneMegabyte = 1_000_000;

function checkRequested({ spec, field }: Subject, report: Report): void {
  const { memory, resources } = spec.domain;
  const given = [memory?.guest, memory?.hugepages?.pageSize, resources?.requests?.["memory"]];
  if (given.some((value) => value !== undefined)) return;
  report.required(
    `${field}.domain.memory.guest`,
    `no memory requested, at least one of '${field}.domain.memory.guest', '${field}.domain.memory.hugepages.pageSize' or '${field}.domain.resources.requests.memory' must be set`,
  );
}

/** Malformed quantities are reported here and count as zero everywhere else. */
function checkQuantities({ spec, field }: Subject, report: Report): void {
  const { memory, resources } = spec.domain;
  const quantities = {
    "domain.memory.guest": memory?.guest,
    "domain.memory.maxGuest": memory?.maxGuest,
    "domain.memory.hugepages.pageSize": memory?.hugepages?.pageSize,
    "domain.memory.reservedOverhead.addedOverhead": memory?.reservedOverhead?.addedOverhead,
    "domain.resources.requests.memory": resources?.requests?.["memory"],
    "domain.resources.limits.memory": resources?.limits?.["memory"],
    "domain.resources.requests.cpu": resources?.requests?.["cpu"],
    "domain.resources.limits.cpu": resources?.limits?.["cpu"],
  };
  for (const [name, value] of Object.entries(quantities)) {
    if (value === undefined || isQuantity(value)) continue;
    report.invalid(
      `${field}.${name}`,
      `${field}.${name} '${value}': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    );
  }
}

function checkRequestsAndLimits({ spec, field }: Subject, report: Report): void {
  const requestField = `${field}.domain.resources.requests.memory`;
  const limitField = `${field}.domain.resources.limits.memory`;
  const request = spec.domain.resources?.requests?.["memory"];
  const limit = spec.domain.resources?.limits?.["memory"];
  const requested = bytesOf(request);
  const limited = bytesOf(limit);
  if (requested < 0) report.invalid(requestField, `${requestField} '${request}': must be greater than or equal to 0.`);
  if (requested > 0 && requested < oneMegabyte) {
    report.invalid(requestField, `${requestField} '${request}': must be greater than or equal to 1M.`);
  }
  if (limited < 0) report.invalid(limitField, `${limitField} '${limit}': must be greater than or equal to 0.`);
  if (limited > 0 && requested > limited) {
    report.invalid(requestField, `${requestField} '${request}' is greater than ${limitField} '${limit}'`);
  }
}

function checkGuest({ spec, field, config }: Subject, report: Report): void {
  const guestField = `${field}.domain.memory.guest`;
  const { memory, resources } = spec.domain;
  const guest = bytesOf(memory?.guest);
  const limit = resources?.limits?.["memory"];
  if (memory?.guest !== undefined && isQuantity(memory.guest) && guest < oneMegabyte) {
    report.invalid(guestField, `${guestField} '${memory.guest}': must be greater than or equal to 1M.`);
  }
  if (!config.liveUpdate.enabled && limit !== undefined && guest > bytesOf(limit)) {
    report.invalid(
      guestField,
      `${guestField} '${memory?.guest}' must be equal to or less than the memory limit ${field}.domain.resources.limits.memory '${limit}'`,
    );
  }
  if (memory?.maxGuest === undefined) return;
  const maxField = `${field}.domain.memory.maxGuest`;
  if (bytesOf(memory.maxGuest) < guest) {
    report.invalid(
      guestField,
      `${guestField} '${memory.guest}' must be equal to or less than ${maxField} '${memory.maxGuest}'`,
    );
  }
  const block = memoryBlockBytes(memory.hugepages?.pageSize);
  if (bytesOf(memory.maxGuest) > guest && (bytesOf(memory.maxGuest) % block !== 0 || guest % block !== 0)) {
    report.invalid(
      maxField,
      `${maxField} '${memory.maxGuest}' and ${guestField} '${memory.guest}' must be multiples of ${block} bytes for memory hotplug`,
    );
  }
}

function checkHugepages({ spec, field }: Subject, report: Report): void {
  const { memory, resources } = spec.domain;
  const pageSize = memory?.hugepages?.pageSize;
  if (pageSize === undefined || bytesOf(pageSize) <= 0) return;
  const request = resources?.requests?.["memory"];
  const memoryField =
    request === undefined ? `${field}.domain.memory.guest` : `${field}.domain.resources.requests.memory`;
  const value = request ?? memory?.guest;
  const pageField = `${field}.domain.memory.hugepages.pageSize`;
  if (bytesOf(value) < bytesOf(pageSize)) {
    report.invalid(
      memoryField,
      `${memoryField} '${value}' must be equal to or larger than page size ${pageField} '${pageSize}'`,
    );
  } else if (bytesOf(value) % bytesOf(pageSize) !== 0) {
    report.invalid(
      memoryField,
      `${memoryField} '${value}' is not a multiple of the page size ${pageField} '${pageSize}'`,
    );
  }
}

const memLockValues = ["Required", "NotRequired", ""];

function checkReservedOverhead({ spec, field }: Subject, report: Report): void {
  const reserved = spec.domain.memory?.reservedOverhead;
  const base = `${field}.domain.memory.reservedOverhead`;
  if (reserved?.memLock !== undefined && !memLockValues.includes(reserved.memLock)) {
    report.notSupported(`${base}.memLock`, `${base}.memLock is set with an unrecognized option: ${reserved.memLock}`);
  }
  if (bytesOf(reserved?.addedOverhead) < 0) {
    report.invalid(
      `${base}.addedOverhead`,
      `${base}.addedOverhead '${reserved?.addedOverhead}': must be greater than or equal to 0.`,
    );
  }
}

export const memoryRules: readonly ValidationRule[] = [
  { name: "memory-requested", check: checkRequested },
  { name: "quantities", check: checkQuantities },
  { name: "memory-requests-and-limits", check: checkRequestsAndLimits },
  { name: "memory-guest", check: checkGuest },
  { name: "memory-hugepages", check: checkHugepages },
  { name: "memory-reserved-overhead", check: checkReservedOverhead },
];
