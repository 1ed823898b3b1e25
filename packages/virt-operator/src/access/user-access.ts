import { subresourceGroup } from "@polyvirt/api";
import type { PolicyRule } from "@polyvirt/api/k8s";
import { read, rule } from "./rules.ts";

/** A cluster role for people. Kubernetes adds it to its own role of the same purpose, so that namespace admins have it. */
interface UserRole {
  readonly name: string;
  readonly aggregateTo: "admin" | "edit" | "view";
  readonly rules: readonly PolicyRule[];
}

const kinds = [
  "virtualmachines",
  "virtualmachineinstances",
  "virtualmachineinstancereplicasets",
  "virtualmachineinstancemigrations",
  "virtualmachineinstancepresets",
];
const inspections = ["guestosinfo", "filesystemlist", "userlist", "objectgraph"];
const streams = ["console", "vnc", "vnc/screenshot", "usbredir", "portforward"];
const instanceCommands = ["pause", "unpause", "freeze", "unfreeze", "softreboot", "reset", "addvolume", "removevolume"];
const machineCommands = ["start", "stop", "restart", "migrate", "addvolume", "removevolume", "memorydump"];

const instances = (subresources: readonly string[]): string[] =>
  subresources.map((name) => `virtualmachineinstances/${name}`);
const machines = (subresources: readonly string[]): string[] => subresources.map((name) => `virtualmachines/${name}`);

const viewRules: PolicyRule[] = [
  rule("kubevirt.io", kinds, read),
  rule(subresourceGroup, [...instances(inspections), ...machines(["expand-spec", "objectgraph"])], ["get"]),
];

const useRules: PolicyRule[] = [
  rule(subresourceGroup, [...instances(streams), ...machines(["portforward"])], ["get"]),
  rule(subresourceGroup, [...instances(instanceCommands), ...machines(machineCommands)], ["update"]),
];

export const userRoles: readonly UserRole[] = [
  {
    name: "kubevirt.io:admin",
    aggregateTo: "admin",
    rules: [
      ...viewRules,
      ...useRules,
      rule("kubevirt.io", kinds, ["create", "update", "patch", "delete", "deletecollection"]),
    ],
  },
  {
    name: "kubevirt.io:edit",
    aggregateTo: "edit",
    rules: [...viewRules, ...useRules, rule("kubevirt.io", kinds, ["create", "update", "patch", "delete"])],
  },
  { name: "kubevirt.io:view", aggregateTo: "view", rules: viewRules },
];

/** Everyone who is logged in may ask which version runs here. */
export const defaultRole = {
  name: "kubevirt.io:default",
  rules: [rule(subresourceGroup, ["version", "guestfs"], ["get", "list"])],
};
